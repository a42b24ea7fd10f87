export { cell, type CellOptions } from "./cell/cell.js";
export type {
  At,
  Cell,
  Computed,
  ElementOf,
  KeyOf,
  Readable,
  Stored,
  Stream,
  Value,
} from "./cell/types.js";
export { computed, type NodeOptions } from "./computed/computed.js";
export { type BuiltInName, EFFECTFUL_BUILT_INS, isBuiltInName } from "./effect/built-in.js";
export {
  type EffectOptions,
  fetchData,
  generateObject,
  generateText,
  type RequestSource,
  sqliteQuery,
  type TypedEffectOptions,
} from "./effect/effect.js";
export { memoKey, type MemoInput } from "./effect/memo.js";
export {
  EFFECT_REQUESTS,
  type FetchRequest,
  FetchRequestSchema,
  type ObjectRequest,
  ObjectRequestSchema,
  type ParsedRequest,
  parseRequest,
  type QueryRequest,
  QueryRequestSchema,
  type ResolvedFetchRequest,
  type TextRequest,
  TextRequestSchema,
} from "./effect/requests.js";
export {
  answeredValue,
  type Effect,
  EFFECT_FAILURE_KINDS,
  type EffectFailure,
  type EffectFailureKind,
  type EffectValue,
  failedValue,
  pendingValue,
  type StoredMemo,
  storedMemo,
} from "./effect/value.js";
export { AbortError, NotServedError, PatternError } from "./errors.js";
export {
  abort,
  cellAt,
  createPiece,
  currentPrincipal,
  defineModule,
  emit,
  eventKey,
  grantSpaceAccess,
  inSpace,
  navigateTo,
  now,
  random,
  revokeSpaceAccess,
  streamAt,
} from "./frame/ambient.js";
export {
  type AccessLevel,
  type CellAtOptions,
  type HandlerContext,
  linkValueOf,
} from "./frame/context.js";
export { action, handler, type HandlerBody, type HandlerOptions } from "./handler/handler.js";
export type { HandlerOutcome } from "./handler/handler-run.js";
export { sendOnChange } from "./handler/send-on-change.js";
export {
  filter,
  flatMap,
  type ListItem,
  type ListItemPlace,
  type ListOptions,
  map,
} from "./list/list.js";
export { ifElse, type Source, unless, when } from "./logic/logic.js";
export type { HandlerNode, PieceNode } from "./pattern/build-scope.js";
export {
  describePiece,
  listNodes,
  type NodeDescription,
  nodeLink,
  pieceSelector,
  type PieceValue,
} from "./pattern/describe.js";
export {
  type BuildInput,
  type Pattern,
  pattern,
  type PatternResult,
  type PatternSpec,
} from "./pattern/pattern.js";
export { PatternRegistry } from "./pattern/registry.js";
export { actionOf } from "./piece/action.js";
export type { CreatePieceOptions, PieceLink } from "./piece/create.js";
export type { Piece } from "./piece/piece.js";
export { Runtime, type Edit, type HandlerEvent, type RunningHandler } from "./runtime.js";
export type { RecoveredRead, RuntimeOptions } from "./runtime-options.js";
export type {
  DerivationContext,
  EffectRequest,
  EffectRun,
  LoggedRead,
  Posture,
  ReadState,
  RunContext,
  RuntimeReport,
  SealDestination,
  SealedRun,
  SealedWrite,
  SealVerdict,
  SentEvent,
  StateView,
} from "./types.js";
