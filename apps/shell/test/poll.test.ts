import { expect, test } from "vitest";
import { newOption } from "../src/poll/new-option.js";
import { pollModel, pollNews, turnout } from "../src/poll/poll-model.js";

const state = {
  options: ["Pizza", "Soup", "Salad"],
  votes: { ana: "Soup", ben: "Soup", carl: "Pizza", dora: "Gone" },
  tally: [
    { option: "Pizza", votes: 1 },
    { option: "Soup", votes: 2 },
    { option: "Salad", votes: 0 },
  ],
};

test("options stand in the poll's order with counts, shares and voters, oneself first", () => {
  const model = pollModel(state, "ben");
  expect(model.rows).toEqual([
    { option: "Pizza", votes: 1, share: 1 / 3, voters: ["carl"], mine: false, leads: false },
    { option: "Soup", votes: 2, share: 2 / 3, voters: ["ben", "ana"], mine: true, leads: true },
    { option: "Salad", votes: 0, share: 0, voters: [], mine: false, leads: false },
  ]);
  expect(turnout(model)).toBe("3 votes so far.");
  expect(turnout(pollModel(state, "eve"))).toBe("3 votes so far, yours is missing.");
  expect(turnout(pollModel({ options: [], votes: {}, tally: [] }, "eve"))).toContain("Nobody");
});

test("a person named like something every object has is nobody's voter", () => {
  expect(pollModel(state, "constructor").mine).toBeUndefined();
});

test("what others did is told, what one did oneself is not", () => {
  const after = { ana: "Pizza", ben: "Salad", dora: "Gone" };
  const news = pollNews(state.votes, after, "ben", (who) => who.toUpperCase());
  expect(news).toBe("ANA votes for Pizza. CARL took their vote back.");
});

test("a new option is trimmed, and refused where it is empty, long or there", () => {
  expect(newOption("  Spring   rolls ", state.options)).toEqual({
    ok: true,
    option: "Spring rolls",
  });
  expect(newOption(" ", state.options)).toMatchObject({ ok: false });
  expect(newOption("soup", state.options)).toEqual({ ok: false, problem: "Soup is on the list." });
  expect(newOption("x".repeat(81), state.options)).toMatchObject({ ok: false });
});
