import { expect, test } from "vitest";
import { allMet, type Row } from "../src/report/row.js";
import { formatTable } from "../src/report/table.js";

const met: Row = {
  figure: "commits/s",
  unit: "/s",
  ours: 5_000,
  yardstick: 10_000,
  ratio: 0.5,
  target: "≥ 0.4×",
  met: true,
};
const missed: Row = { figure: "memory", unit: "MB", ours: 40, target: "≤ 30 MB", met: false };
const absent: Row = {
  figure: "trace",
  unit: "/s",
  ours: undefined,
  target: "≥ 2,000",
  met: undefined,
  note: "no data",
};

test("the table shows a line per figure, aligned, and the notes below it", () => {
  expect(formatTable([met, missed, absent]).split("\n")).toEqual([
    "figure         ours  yardstick   ratio  target",
    "---------  --------  ---------  ------  -------  ----------",
    "commits/s  5,000 /s  10,000 /s  0.500×  ≥ 0.4×   met",
    "memory      40.0 MB          –       –  ≤ 30 MB  missed",
    "trace             –          –       –  ≥ 2,000  not judged",
    "",
    "trace: no data",
  ]);
});

test("a figure that is missed fails the run, one that could not be judged does not", () => {
  expect(allMet([met, absent])).toBe(true);
  expect(allMet([met, missed])).toBe(false);
});
