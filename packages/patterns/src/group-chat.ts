import { cell, computed, eventKey, handler, map, now, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { actingUser } from "./acting-user.js";

const Message = z.object({
  /** The key of the event that wrote it: the same on every run of that event. */
  id: z.string(),
  author: z.string(),
  text: z.string(),
  at: z.number(),
});

const Text = z.string().trim().min(1).max(2_000);

/** A message as it is shown. */
export interface ChatLine {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly at: number;
}

/** Messages in the order they arrived, under names that people give themselves. */
export const groupChat = pattern({
  id: "group-chat",
  version: "1",
  title: "Group chat",
  description: "Messages in the order they arrived.",
  argument: z.object({ title: z.string().default("Chat").meta({ title: "Title" }) }),
  build: ({ argument }) => {
    const messages = cell("messages", z.array(Message), { default: [], title: "Messages" });
    const names = cell("names", z.record(z.string(), z.string()), { default: {}, title: "Names" });
    const draft = cell("draft", z.string(), {
      scope: "session",
      default: "",
      title: "Draft",
      description: "What this tab is typing.",
    });
    const lines = map(
      "lines",
      messages,
      (message): ChatLine | null => {
        const sent = message.get();
        if (sent === undefined) return null;
        const { id, author, text, at } = sent;
        return { id, name: names.key(author).get() ?? shortName(author), text, at };
      },
      { key: (message) => message.id, title: "Conversation" },
    );
    const count = computed("count", () => messages.keys().length, { title: "Number of messages" });
    const post = handler(
      "post",
      z.object({ text: Text.meta({ title: "Message" }) }),
      ({ text }) => messages.append({ id: eventKey(), author: actingUser(), text, at: now() }),
      { title: "Send" },
    );
    const rename = handler(
      "rename",
      z.object({ name: z.string().trim().min(1).max(40).meta({ title: "Name" }) }),
      ({ name }) => names.key(actingUser()).set(name),
      { title: "Change my name" },
    );
    const remove = handler(
      "remove",
      z.object({ id: z.string().meta({ title: "Message id" }) }),
      ({ id }) => {
        const message = messages.get().find((one) => one.id === id);
        if (message === undefined) return;
        if (message.author !== actingUser()) throw new Error("only its author removes a message");
        messages.removeValue(message);
      },
      { title: "Remove a message of mine" },
    );
    return { title: argument.key("title"), lines, names, draft, count, post, rename, remove };
  },
});

/** Until somebody has a name: the end of the principal, where principals differ. */
function shortName(principal: string): string {
  return `…${principal.slice(-6)}`;
}
