export { Client, connect } from "./client.js";
export type { ConnectOptions, WhoAmI } from "./client.js";
export type { FiredEvent } from "./handle/fired-event.js";
export type { Appended, Outcome } from "./handle/outcome.js";
export { PieceHandle } from "./handle/piece.js";
export type { PieceOptions } from "./handle/piece.js";
export type {
  ArgumentOf,
  CellName,
  PayloadArgs,
  PayloadOf,
  ResultOf,
  StreamName,
  ValueName,
  ValueOf,
} from "./handle/types.js";
export type { ValueHandle } from "./handle/value-handle.js";
export { DEFAULT_POLICY, policyOf } from "./options.js";
export type { ClientPolicy, PolicyOverrides } from "./options.js";
export type { Pacing } from "./queue/token-bucket.js";
export { Replica } from "./replica/replica.js";
export type { Integration, ReplicaChange, ReplicaPosition } from "./replica/replica.js";
export type { BackoffPolicy } from "./session/backoff.js";
export type { LinkPolicy } from "./session/link.js";
export { Observable } from "./session/observable.js";
export type { ConnectionState, ConnectionStatus } from "./session/status.js";
export { Space } from "./space/space.js";
export type { CreatedPiece, CreateOptions, PieceSummary, RawAccess } from "./space/space.js";
export type { Committed } from "./space/outgoing.js";
export type { SpaceState } from "./space/space-link.js";
