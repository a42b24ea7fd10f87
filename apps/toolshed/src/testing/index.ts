/** `@tidemark/toolshed/testing`: real toolshed processes, waited for by what they print. */
export { OutputLines } from "./output-lines.js";
export {
  type ProcessEnd,
  startToolshed,
  ToolshedProcess,
  type ToolshedProcessOptions,
} from "./toolshed-process.js";
