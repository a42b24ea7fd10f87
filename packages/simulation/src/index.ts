/** `@tidemark/simulation`: scenario files, and the worlds they run in. Private to the project. */
export { runScenario, type RunOptions, type ScenarioResult } from "./run/run-scenario.js";
export { NotSupportedYetError } from "./run/not-supported.js";
export { BadFileError } from "./scenario/bad-file.js";
export { parseScenario, type Scenario } from "./scenario/file.js";
export type { Step, Verb } from "./scenario/steps.js";
export { World, type WorldOptions } from "./world/world.js";
