import { cell, computed, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { actingUser } from "./acting-user.js";

const Option = z.string().trim().min(1).max(80);

const Choice = z.object({
  option: Option.meta({ title: "Option", description: "What you would like to eat." }),
});

/** Votes for one option. */
export interface TallyRow {
  readonly option: string;
  readonly votes: number;
}

/** Everybody has one vote and may change it; the tally counts. */
export const lunchPoll = pattern({
  id: "lunch-poll",
  version: "1",
  title: "Lunch poll",
  description: "Everybody has one vote and may change it.",
  argument: z.object({
    title: z.string().default("Lunch?").meta({ title: "Title" }),
    options: z
      .array(Option)
      .default(["Pizza", "Soup", "Salad"])
      .meta({ title: "Options", description: "What there is to choose from at first." }),
  }),
  build: ({ argument }) => {
    const votes = cell("votes", z.record(z.string(), z.string()), {
      default: {},
      title: "Votes",
      description: "Each person's vote, by principal.",
    });
    const added = cell("added", z.array(z.string()), { default: [], title: "Added options" });
    const draft = cell("draft", z.string(), {
      scope: "session",
      default: "",
      title: "Draft",
      description: "What this tab is typing.",
    });
    const options = computed("options", () => [
      ...new Set([...argument.key("options").get(), ...added.get()]),
    ]);
    const tally = computed("tally", () => countVotes(options.get(), Object.values(votes.get())), {
      title: "Tally",
    });
    const leader = computed("leader", () => leading(tally.get()), { title: "In the lead" });
    const vote = handler(
      "vote",
      Choice,
      ({ option }) => {
        if (!options.get().includes(option)) throw new Error(`${option} is not on the list`);
        votes.key(actingUser()).set(option);
      },
      { title: "Vote", description: "Your vote replaces the one you gave before." },
    );
    const addOption = handler("addOption", Choice, ({ option }) => added.addUnique(option), {
      title: "Add an option",
    });
    const retract = handler("retract", z.unknown(), () => votes.key(actingUser()).remove(), {
      title: "Take my vote back",
    });
    return {
      title: argument.key("title"),
      options,
      votes,
      draft,
      tally,
      leader,
      vote,
      addOption,
      retract,
    };
  },
});

/** A row per option in the options' order. A vote for what is no option any more counts nowhere. */
function countVotes(options: readonly string[], votes: readonly string[]): TallyRow[] {
  return options.map((option) => ({
    option,
    votes: votes.filter((vote) => vote === option).length,
  }));
}

/** The first of those with the most votes; nobody leads before the first vote. */
function leading(tally: readonly TallyRow[]): string | null {
  const most = Math.max(0, ...tally.map(({ votes }) => votes));
  return most === 0 ? null : (tally.find(({ votes }) => votes === most)?.option ?? null);
}
