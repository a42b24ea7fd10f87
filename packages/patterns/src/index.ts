import type { Pattern } from "@tidemark/runtime";
import { counter } from "./counter.js";
import { groupChat } from "./group-chat.js";
import { lunchPoll } from "./lunch-poll.js";

export { counter } from "./counter.js";
export { type ChatLine, groupChat } from "./group-chat.js";
export { lunchPoll, type TallyRow } from "./lunch-poll.js";

/** Every pattern of this package, to register them all. */
export const samplePatterns: readonly Pattern[] = [counter, lunchPoll, groupChat];
