import { expect, test } from "vitest";
import { GATE_NAMES, identityFromSeed, openGates, spaceId } from "../../src/index.js";

const space = spaceId(identityFromSeed(new Uint8Array(32).fill(1)).did);

test("[PR-S6] production's gates let everything pass at once, without a promise", () => {
  for (const name of GATE_NAMES) expect(openGates.pass(name, { space })).toBeUndefined();
});

test("[PR-S6] the gates are those of the public list, each once", () => {
  expect(GATE_NAMES.length).toBe(29);
  expect(new Set(GATE_NAMES).size).toBe(GATE_NAMES.length);
});
