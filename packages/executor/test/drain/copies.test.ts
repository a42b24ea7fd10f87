import { expect, test } from "vitest";
import { z } from "zod";
import { streamIdFor, type DocId, type EventId } from "@tidemark/protocol";
import { action, cell, handler, pattern, sendOnChange } from "@tidemark/runtime";
import { HeldLoads } from "../support/loads.js";
import { lab } from "../support/patterns.js";
import { createWorld, nodeKey, type World } from "../support/world.js";

/** What comes to `take` stands in the log in the order of its runs; "look" reads what may have to be loaded. */
const relays = pattern({
  id: "relays",
  version: "1",
  build: () => {
    const log = cell("log", z.array(z.string()), { default: [] });
    const far = cell("far", z.string(), { default: "" });
    const near = cell("near", z.string(), { default: "" });
    const take = handler("take", z.string(), (word) => {
      log.append(word === "look" ? `look${far.get()}` : word);
    });
    const relay = handler("relay", z.string(), (word) => {
      take.send(word);
    });
    const relayAll = handler("relayAll", z.array(z.string()), (words) => {
      for (const word of words) take.send(word);
    });
    const write = handler("write", z.string(), (word) => {
      near.set(word);
    });
    const told = sendOnChange(
      "told",
      () => near.get(),
      () => take,
      (word) => word,
    );
    const idle = action("idle", () => undefined);
    const stall = action("stall", () => lab.doors.get("stall"));
    return { log, far, near, told, take, relay, relayAll, write, idle, stall };
  },
});

async function relaying(loads = new HeldLoads()): Promise<World & { piece: DocId }> {
  const w = await createWorld({ patterns: [relays], loads });
  const piece = await w.create(relays);
  await w.open(w.owner, piece, ["log", "told"]);
  await w.settle();
  return { ...w, piece };
}

test("[EX-C11] a copy that went back keeps back the later ones of its stream", async () => {
  const loads = new HeldLoads();
  const w = await relaying(loads);
  const far = nodeKey(w.piece, "far");
  loads.hold(far);
  await w.fire(w.owner, w.piece, "relayAll", ["look", "second"]);
  await w.settle();
  expect(w.value(w.piece, "log")).toBeUndefined();
  loads.settle(far);
  await w.settle();
  expect(w.value(w.piece, "log")).toEqual(["look", "second"]);
  await w.stop();
});

test("[EX-C11] a copy leaves its entry to the drain where an earlier event of its stream is held", async () => {
  const w = await relaying();
  // All three stand before the drain looks again: the first relays, the second holds the third.
  w.t.gates.hold("feed:before-apply");
  await w.fire(w.owner, w.piece, "relay", "relayed");
  const nobody = streamIdFor(w.piece, "nobody");
  await w.owner.append(w.space, nobody, { eventId: "x1" as EventId, payload: null });
  await w.fire(w.owner, w.piece, "take", "direct");
  w.t.gates.release("feed:before-apply");
  await w.settle(5_000);
  expect(w.value(w.piece, "log")).toEqual(["direct", "relayed"]);
  await w.stop();
});

test("[EX-C11] and where its stream's head waits for a load, whoever sent it", async () => {
  const loads = new HeldLoads();
  const w = await relaying(loads);
  const far = nodeKey(w.piece, "far");
  loads.hold(far);
  await w.fire(w.owner, w.piece, "take", "look");
  await w.settle();
  await w.write(w.owner, w.piece, "near", "derived");
  await w.settle();
  expect(w.value(w.piece, "log")).toBeUndefined();
  loads.settle(far);
  await w.settle();
  expect(w.value(w.piece, "log")).toEqual(["look", "derived"]);
  await w.stop();
});

test("[EX-C11] and where one stands behind what a pass takes up", async () => {
  const w = await relaying();
  w.t.gates.hold("feed:before-apply");
  for (let at = 0; at < 512; at += 1)
    await w.fire(w.owner, w.piece, at === 0 ? "relay" : "idle", "relayed");
  await w.fire(w.owner, w.piece, "take", "direct");
  w.t.gates.release("feed:before-apply");
  await w.settle();
  expect(w.value(w.piece, "log")).toEqual(["direct", "relayed"]);
  await w.stop();
});

test("[EX-C11] and where the replica, kept still by a body, has not seen it yet", async () => {
  const w = await relaying();
  const open = lab.door("stall");
  w.t.gates.hold("feed:before-apply");
  await w.fire(w.owner, w.piece, "relay", "first");
  await w.fire(w.owner, w.piece, "stall");
  await w.fire(w.owner, w.piece, "relay", "third");
  w.t.gates.release("feed:before-apply");
  // The deadline takes back the first one's copy; its entry is stored, and so is a click.
  await w.settle(150);
  await w.fire(w.owner, w.piece, "take", "second");
  expect(w.value(w.piece, "log")).toBeUndefined();
  open();
  await w.settle();
  expect(w.value(w.piece, "log")).toEqual(["first", "second", "third"]);
  await w.stop();
});
