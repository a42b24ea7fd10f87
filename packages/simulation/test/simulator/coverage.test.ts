import { expect, test } from "vitest";
import { Coverage, GATE_FAULTS, REACHED_GATES, WORLD_FAULTS } from "../../src/simulator/index.js";

test("[SI-S7] a pair of a reachable gate and a fault is missing until it has been met", () => {
  const coverage = new Coverage();
  expect(coverage.missing()).toHaveLength(
    REACHED_GATES.length * GATE_FAULTS.length + WORLD_FAULTS.length,
  );
  coverage.note("seal:before", "pass");
  coverage.note("seal:before", "fail");
  expect(coverage.missing()).not.toContain("seal:before × fail");
  expect(coverage.missing()).toContain("seal:before × hold");
  const other = new Coverage();
  other.note("seal:before", "hold");
  coverage.add(other);
  expect(coverage.missing()).not.toContain("seal:before × hold");
  expect(coverage.table()).toContain("seal:before");
  coverage.noteFault("a live lease is stolen");
  expect(coverage.missing()).not.toContain("a live lease is stolen");
  expect(coverage.missing()).toContain("a holder stands still past its lease");
});
