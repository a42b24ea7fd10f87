import type { TestApi } from "@tidemark/protocol/testing";
import { BASIS_CASES } from "./basis-cases.js";
import { BRANCH_CASES } from "./branch-cases.js";
import { COMMIT_CASES } from "./commit-cases.js";
import { EXTENSION_CASES } from "./extension-cases.js";
import { registerCases, type EngineHarnessFactory } from "./harness.js";
import { LEASE_CASES } from "./lease-cases.js";
import { READ_CASES } from "./read-cases.js";
import { STREAM_CASES } from "./stream-cases.js";
import { UPKEEP_CASES } from "./upkeep-cases.js";

const ALL_CASES = [
  COMMIT_CASES,
  READ_CASES,
  LEASE_CASES,
  BASIS_CASES,
  BRANCH_CASES,
  STREAM_CASES,
  UPKEEP_CASES,
  EXTENSION_CASES,
];

/**
 * What every store must do, whatever its driver. `create` makes a harness around a fresh store;
 * where `reopens` is false, the cases about several connections pass without looking.
 */
export function describeEngine(create: EngineHarnessFactory, api: TestApi): void {
  for (const cases of ALL_CASES) registerCases(cases, create, api);
}
