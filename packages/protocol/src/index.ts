// base
export { assert, InvariantError, must, unreachable } from "./base/assert.js";
export { err, ok, type Result, unwrap } from "./base/result.js";
export { isWellFormedText } from "./base/text.js";
// errors
export {
  AuthorizationError,
  type AuthorizationDetails,
  type Conflict,
  ConflictError,
  DuplicateEventError,
  LeaseError,
  PreconditionError,
  ProtocolError,
  ResolutionError,
  SpeculativeBasisError,
} from "./errors/refusals.js";
export {
  ConnectionError,
  EventDeliveryError,
  type EventDeliveryKind,
  FrameError,
  HistoryHorizonError,
  NarrowingUnsupportedError,
  StorageError,
  type StorageErrorKind,
  TimeoutError,
  UnknownPatternError,
} from "./errors/service.js";
export {
  isTidemarkError,
  TidemarkError,
  type TidemarkErrorOptions,
} from "./errors/tidemark-error.js";
export {
  LimitError,
  PatchError,
  type PatchReason,
  ScopeError,
  type ScopeReason,
  ValueError,
  type ValueReason,
} from "./errors/values.js";
export {
  fromWireError,
  toWireError,
  type WireError,
  WireErrorSchema,
} from "./errors/wire-error.js";
// ids
export {
  actionId,
  branchName,
  docId,
  eventId,
  holderId,
  isBranchName,
  isDocId,
  isEventId,
  isHolderId,
  isLocalSeq,
  isPrincipal,
  isSeq,
  isSessionId,
  isSpaceId,
  localSeq,
  MAIN_BRANCH,
  principal,
  seq,
  sessionId,
  spaceId,
} from "./ids/ids.js";
export type {
  ActionId,
  Brand,
  BranchName,
  DocId,
  EventId,
  HolderId,
  LocalSeq,
  Principal,
  Seq,
  SessionId,
  SpaceId,
} from "./ids/ids.js";
export {
  ACL_DOC,
  ATTENTION_DOC,
  docKind,
  type DocKind,
  EFFECTS_DOC,
  isReserved,
  nodeIdFor,
  pieceIdFor,
  receiptIdFor,
  RESERVED,
  streamIdFor,
  WATERMARK_DOC,
} from "./ids/documents.js";
// scope
export {
  instanceKey,
  isScopeKey,
  isScopeKind,
  parseInstanceKey,
  parseScopeKey,
  resolveScopeKey,
  SCOPE_KINDS,
  scopeApplies,
  scopeKindOf,
  sessionScopeKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
} from "./scope/scope.js";
export type { Actor, InstanceKey, ScopeKey, ScopeKind, ScopeParts } from "./scope/scope.js";
// did
export {
  generateIdentity,
  type Identity,
  identityFromSeed,
  publicKeyOf,
  verifySignature,
} from "./did/identity.js";
// json
export type { JsonArray, JsonObject, JsonValue, Path } from "./json/json-value.js";
export { canonicalJson } from "./json/canonical.js";
export { jsonEqual, jsonSameShape } from "./json/equal.js";
export { getAt } from "./json/get-at.js";
export { contentDigest, contentHash } from "./json/hash.js";
export { getOwn, isJsonArray, isJsonObject, type MutableJsonObject, setOwn } from "./json/own.js";
export {
  DEFAULT_JSON_LIMITS,
  type JsonLimits,
  MAX_JSON_DEPTH,
  type ValidateOptions,
  validateJson,
} from "./json/validate.js";
// link
export { asLink, isLink, type Link, toLinkValue } from "./link/link.js";
// patch
export { applyOperation, applyPatch } from "./patch/apply.js";
export { diff } from "./patch/diff.js";
export type {
  AddOp,
  AddUniqueOp,
  AppendOp,
  DocOperation,
  IncrementOp,
  MergingOp,
  OverwritingOp,
  PatchOp,
  RemoveOp,
  ReplaceOp,
  SpliceOp,
  ValueOperation,
} from "./patch/operations.js";
export {
  isMerging,
  isPathPrefix,
  operationsCommute,
  overwrittenPaths,
  pathsOverlap,
  touchedPaths,
} from "./patch/paths.js";

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
