import { describe, expect, test, type TestContext } from "vitest";
import { describeEngine, describeSqlDriver } from "../src/testing/index.js";
import { fileHarness, memoryHarness } from "./support/harness.js";

describe("a store in memory", () => describeEngine(memoryHarness, { test, expect }));
describe("a store in a file", () => describeEngine(fileHarness, { test, expect }));

// The check of SPEC.md reads the titles of this folder; these hold them to the suites' own.

const ID = /\[(ME-[A-Z]\d+)\]/g;
const unused = (): never => {
  throw new Error("only the titles are read");
};

/** The ids of one letter in the titles that the suites register, once each, by number. */
function heldBySuites(letter: string): string[] {
  const ids = new Set<string>();
  const api = {
    expect: unused,
    test: (title: string) => {
      for (const [, id = ""] of title.matchAll(ID)) ids.add(id);
    },
  };
  describeEngine(unused, api);
  describeSqlDriver(unused, api);
  return [...ids]
    .filter((id) => id.startsWith(`ME-${letter}`))
    .sort((a, b) => Number(a.slice(4)) - Number(b.slice(4)));
}

function matchesTitle(letter: string): (context: TestContext) => void {
  return ({ task }) => {
    const named = [...task.name.matchAll(ID)].map(([, id]) => id);
    expect(named).toEqual(heldBySuites(letter));
  };
}

test(
  "the suites hold the rules of the SQL driver: [ME-D1] [ME-D2] [ME-D3] [ME-D4] [ME-D5] [ME-D6] [ME-D13]",
  matchesTitle("D"),
);
test(
  "the suites hold the rules of commits: [ME-C1] [ME-C2] [ME-C3] [ME-C4] [ME-C5] [ME-C6] [ME-C7] [ME-C8] [ME-C9] [ME-C10] [ME-C11] [ME-C12] [ME-C14]",
  matchesTitle("C"),
);
test(
  "the suites hold the rules of reads: [ME-R1] [ME-R2] [ME-R3] [ME-R4] [ME-R5] [ME-R6] [ME-R7] [ME-R8] [ME-R9] [ME-R10] [ME-R11] [ME-R12]",
  matchesTitle("R"),
);
test(
  "the suites hold the rules of lease: [ME-L1] [ME-L2] [ME-L3] [ME-L4] [ME-L5] [ME-L6]",
  matchesTitle("L"),
);
test(
  "the suites hold the rules of basis: [ME-B1] [ME-B2] [ME-B3] [ME-B4] [ME-B5] [ME-B6] [ME-B7]",
  matchesTitle("B"),
);
test(
  "the suites hold the rules of branches: [ME-H1] [ME-H2] [ME-H3] [ME-H4] [ME-H5] [ME-H6]",
  matchesTitle("H"),
);
test(
  "the suites hold the rules of streams: [ME-S1] [ME-S2] [ME-S3] [ME-S4] [ME-S5] [ME-S6] [ME-S7] [ME-S8]",
  matchesTitle("S"),
);
test(
  "the suites hold the rules of upkeep: [ME-G1] [ME-G2] [ME-G3] [ME-G4] [ME-G5] [ME-G6] [ME-G7] [ME-G8] [ME-G9]",
  matchesTitle("G"),
);
test("the suites hold the rules of extensions: [ME-X1] [ME-X2] [ME-X3] [ME-X4]", matchesTitle("X"));
