/** `@tidemark/simulation`: scenario files, the worlds they run in, and recorded texts. Private to the project. */
export { inFlight } from "./replay/in-flight.js";
export { Patch, type TextPatch } from "./replay/patch.js";
export { dataFolder } from "./replay/recordings.js";
export { replay, type ReplayOptions, type ReplayResult } from "./replay/replay.js";
export { recordedText, replayText } from "./replay/text-pattern.js";
export { prefixOf, readTrace, textOf, type Trace, traceFile } from "./replay/trace.js";
export { runScenario, type RunOptions, type ScenarioResult } from "./run/run-scenario.js";
export { NotSupportedYetError } from "./run/not-supported.js";
export { BadFileError } from "./scenario/bad-file.js";
export { parseScenario, type Scenario } from "./scenario/file.js";
export type { Step, Verb } from "./scenario/steps.js";
export { World, type WorldOptions } from "./world/world.js";
