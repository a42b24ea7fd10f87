import { expect, test } from "vitest";
import { lunchPoll } from "../src/index.js";
import { asUser, stage } from "../src/testing/index.js";

const BEN = asUser("did:key:ben");

test("[PA-L1] everybody has one vote, the last one counts", async () => {
  const { fire, see } = await stage(lunchPoll);
  expect(see("leader")).toBeNull();

  await fire("vote", { option: "Soup" });
  await fire("vote", { option: "Soup" }, BEN);
  await fire("vote", { option: "Pizza" });

  expect(see("tally")).toEqual([
    { option: "Pizza", votes: 1 },
    { option: "Soup", votes: 1 },
    { option: "Salad", votes: 0 },
  ]);
  expect(see("leader")).toBe("Pizza");
});

test("[PA-L2] a vote can be taken back, also one that was never given", async () => {
  const { fire, see } = await stage(lunchPoll);
  await fire("vote", { option: "Soup" }, BEN);

  await fire("retract");
  expect(see("leader")).toBe("Soup");
  await fire("retract", null, BEN);

  expect(see("leader")).toBeNull();
});

test("[PA-L3] options are added once and can be voted for", async () => {
  const { fire, see } = await stage(lunchPoll, { options: ["Pizza"] });

  expect(await fire("vote", { option: "Curry" })).toMatchObject({ kind: "errored" });
  await fire("addOption", { option: " Curry " });
  await fire("addOption", { option: "Curry" });
  await fire("vote", { option: "Curry" });

  expect(see("tally")).toEqual([
    { option: "Pizza", votes: 0 },
    { option: "Curry", votes: 1 },
  ]);
});

test("[PA-L4] nobody's vote and an option without words are refused", async () => {
  const { fire, see } = await stage(lunchPoll);

  const nobody = await fire("vote", { option: "Soup" }, { actor: { session: "server" } });
  expect(nobody).toMatchObject({ kind: "errored" });
  expect(await fire("addOption", { option: "   " })).toMatchObject({ kind: "errored" });

  expect(see("votes")).toEqual({});
});

test("[PA-L5] a vote writes its own key, so that votes that meet both count", async () => {
  const { fire, space } = await stage(lunchPoll);
  await fire("vote", { option: "Soup" });
  await fire("vote", { option: "Pizza" }, BEN);

  const writes = space.sealed
    .filter(({ context }) => context.kind === "event-handler")
    .flatMap((run) => run.writes.map(({ op }) => op));
  expect(writes[1]).toEqual({
    op: "patch",
    value: [{ op: "replace", path: ["did:key:ben"], value: "Pizza" }],
  });
});
