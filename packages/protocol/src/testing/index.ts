export { type Arbitraries, createArbitraries } from "./arbitraries.js";
export {
  describeTransport,
  type TransportHarness,
  type TransportSuite,
} from "./describe-transport.js";
export {
  readExamples,
  type ReadmeExampleInput,
  type ReadmeExampleRun,
  runReadmeExample,
} from "./node/readme-example.js";
export {
  checkSpecCoverage,
  readCitations,
  readSpec,
  type SpecCoverageInput,
  type SpecRules,
} from "./node/spec-coverage.js";
export { type GateRuleOptions, TestGates } from "./test-gates.js";
export { TestSocketPair } from "./socket-pair.js";
export type { Expectation, TestApi } from "./test-api.js";
export {
  ChildClock,
  type ChildClockOptions,
  type ClockOwner,
  VirtualClock,
  type VirtualClockOptions,
} from "./virtual-clock.js";
