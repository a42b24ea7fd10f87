import { expect, test } from "vitest";
import { helpText, readOptions } from "../src/cli/options.js";

const NAMES = ["graph", "trace"];

test("without arguments every figure is measured in full", () => {
  expect(readOptions([], NAMES)).toEqual({
    kind: "run",
    options: { json: false, quick: false, only: [], data: undefined },
  });
});

test("figures are chosen by name, one by one or in a list", () => {
  const request = readOptions(["--only", "graph", "--only", "trace,graph"], NAMES);
  expect(request).toMatchObject({ kind: "run", options: { only: ["graph", "trace", "graph"] } });
});

test("an unknown figure or option is said, with what there is", () => {
  expect(readOptions(["--only", "speed"], NAMES)).toEqual({
    kind: "invalid",
    problem: 'there is no figure "speed"; there are graph, trace',
  });
  expect(readOptions(["--fast"], NAMES)).toMatchObject({ kind: "invalid" });
});

test("the help names every figure", () => {
  expect(readOptions(["-h"], NAMES)).toEqual({ kind: "help" });
  expect(helpText([{ name: "graph", about: "how fast" }])).toContain("graph  how fast");
});
