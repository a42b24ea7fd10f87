/** `@tidemark/toolshed`: the server, composed of the packages below it. */
export type { EffectsConfig, LlmConfig } from "./config/effects-config.js";
export { Secret } from "./config/secret.js";
export type { Demo } from "./demo/demo.js";
export { type Effects, openEffects } from "./effects/open-effects.js";
export { createLog, type Log, type LogLevel, type LogSink } from "./log/log.js";
export { SOCKET_PATH } from "./socket/accept-sockets.js";
export type { SocketPolicy } from "./socket/policy.js";
export { createToolshed, type Toolshed, type ToolshedOptions } from "./toolshed.js";
