import { expect, test } from "vitest";
import { type ChatLine, groupChat } from "../src/index.js";
import { asUser, stage } from "../src/testing/index.js";

const BEN = asUser("did:key:ben");

test("[PA-G1] messages stand in the order they arrived, each with its author's name and instant", async () => {
  const { fire, see } = await stage(groupChat);
  await fire("rename", { name: "Ana" });

  await fire("post", { text: "Hello" }, { at: 10 });
  await fire("post", { text: "Hi" }, { ...BEN, at: 20 });

  expect(see("lines")).toMatchObject([
    { name: "Ana", text: "Hello", at: 10 },
    { name: "…ey:ben", text: "Hi", at: 20 },
  ]);
  expect(see("count")).toBe(2);
});

test("[PA-G2] a new name shows on messages already sent", async () => {
  const { fire, see } = await stage(groupChat);
  await fire("post", { text: "Hello" });

  await fire("rename", { name: "Ana" });

  expect(see("lines")).toMatchObject([{ name: "Ana" }]);
});

test("[PA-G3] an event run again writes the same message", async () => {
  const { fire, see } = await stage(groupChat);
  const eventId = "e-again" as never;

  await fire("post", { text: "Hello" }, { eventId, at: 5 });
  await fire("post", { text: "Hello" }, { eventId, at: 5 });

  const [first, second] = see("lines") as ChatLine[];
  expect(second).toEqual(first);
});

test("[PA-G4] only its author removes a message", async () => {
  const { fire, see } = await stage(groupChat);
  await fire("post", { text: "Hello" });
  const [line] = see("lines") as ChatLine[];

  expect(await fire("remove", { id: line?.id }, BEN)).toMatchObject({ kind: "errored" });
  expect(await fire("remove", { id: "unknown" })).toMatchObject({ kind: "sealed" });
  expect(see("count")).toBe(1);
  await fire("remove", { id: line?.id });

  expect(see("lines")).toEqual([]);
});

test("[PA-G5] a message without words is refused", async () => {
  const { fire, see } = await stage(groupChat);

  expect(await fire("post", { text: "  " })).toMatchObject({ kind: "errored" });

  expect(see("count")).toBe(0);
});
