import { beforeEach, expect, test } from "vitest";
import {
  nodeIdFor,
  pieceIdFor,
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type JsonValue,
  type Precondition,
} from "@tidemark/protocol";
import type { Draft } from "../../src/wave/accumulator.js";
import { counter, lab } from "../support/patterns.js";
import { stand } from "../support/stand.js";
import { nodeKey } from "../support/world.js";

beforeEach(() => lab.runs.clear());

/** A run of the counter's node that rests on a document that has moved. */
function pinned(piece: DocId, value: JsonValue, pin: Precondition): Draft {
  return {
    kind: "derivation",
    action: `counter/double@${piece}` as ActionId,
    instance: SPACE_SCOPE_KEY,
    reads: [],
    elided: [],
    writes: [{ key: nodeKey(piece, "double"), op: { op: "set", value } }],
    sends: [],
    preconditions: [pin],
  };
}

test("[EX-W18] a derivation whose precondition fails is not armed again, and W goes on without it", async () => {
  const { w, piece, parts } = await stand(counter, ["double"]);
  const ran = lab.runs.get("double");
  const input = await w.write(w.owner, pieceIdFor({ name: "other" }), "n", 1);
  const draft = pinned(piece, 8, { kind: "create-only", id: nodeIdFor(piece, "double") });
  expect(parts.scheduler.node(draft.action, draft.instance)).toBeDefined();
  parts.accumulator.seal(draft);
  const first = await parts.loop.cycle();
  expect(w.watermark()).toBeLessThan(input);
  expect(first.again).toBe(true);
  await parts.loop.cycle();
  expect(w.watermark()).toBe(input);
  expect(w.value(piece, "double")).toBe(0);
  expect(lab.runs.get("double")).toBe(ran);
  // Its inputs are what brings it back.
  await w.write(w.owner, piece, "count", 3);
  await parts.loop.cycle();
  expect(w.value(piece, "double")).toBe(6);
  await w.stop();
});

test("[EX-W18] one that holds lands with its wave", async () => {
  const { w, piece, parts } = await stand(counter, ["double"]);
  parts.accumulator.seal(pinned(piece, 8, { kind: "create-only", id: nodeIdFor(piece, "new") }));
  await parts.loop.cycle();
  expect(w.value(piece, "double")).toBe(8);
  await w.stop();
});
