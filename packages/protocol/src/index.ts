export {};

// second half
export { createIdSource, type IdSource } from "./seams/id-source.js";
export { createLoopback, type Loopback } from "./seams/loopback.js";
export { seededRandom, systemRandom, type Random } from "./seams/random.js";
export { systemClock, type Cancellable, type Clock } from "./seams/system-clock.js";
export {
  CLOSE_LOST,
  CLOSE_NORMAL,
  type ClientConnection,
  type CloseReason,
  type Connection,
  type Transport,
} from "./seams/transport.js";
