// base
export { assert, InvariantError, must, unreachable } from "./base/assert.js";
export { err, ok, type Result, unwrap } from "./base/result.js";
export { isWellFormedText } from "./base/text.js";
// errors
export { type AppendRefusal, readAppendRefusal } from "./errors/append-refusal.js";
export {
  AuthorizationError,
  type AuthorizationDetails,
  type Conflict,
  ConflictError,
  DuplicateEventError,
  LeaseError,
  OutOfTurnError,
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
  type TidemarkErrorArguments,
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
export { contentDigest, contentHash, type TextDigest, useSha256 } from "./json/hash.js";
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
export { type Overwrite, overwritesOf, standingPart } from "./patch/overwrites.js";
export {
  isMerging,
  isPathPrefix,
  operationsCommute,
  overwrittenPaths,
  pathsOverlap,
  touchedPaths,
} from "./patch/paths.js";

// second half
export {
  ACL_LEVELS,
  ACL_STREAMS_KEY,
  type Acl,
  type AclLevel,
  AclSchema,
  type AclStreams,
  aclLevel,
  type AclProblem,
  aclProblem,
  type Grantee,
  isOwner,
  levelAtLeast,
  mayAppend,
  mayRead,
  mayWrite,
} from "./acl/acl.js";
export { type AccessChange, changeAcl, grantOf, revocationOf } from "./acl/access-change.js";
export type { AcceptedCommit, CapabilityRef, DocChange } from "./commit/accepted.js";
export {
  type AppendEntry,
  AppendEntrySchema,
  type AppendRequest,
  AppendRequestSchema,
  type AuthoredCommit,
  AuthoredCommitSchema,
  type ConfirmedRead,
  ConfirmedReadSchema,
  FiredAtSchema,
  type Precondition,
  PreconditionSchema,
} from "./commit/authored.js";
export type { CommitClass } from "./commit/commit-class.js";
export type { AttributedChange, BasisRead, BasisUpdate, DerivedBatch } from "./commit/derived.js";
export {
  ENTRY_STATUSES,
  type EntryMark,
  type EntryStatus,
  type FiredAt,
  type Frontier,
  type NewEntry,
  type StreamEntry,
} from "./commit/entry.js";
export { JsonValueSchema, MAX_PATH_LENGTH, PathSchema } from "./commit/field-schemas.js";
export { DocOperationSchema, PatchOpSchema } from "./commit/operation-schemas.js";
export { GATE_NAMES, type GateName, type GatePoint, type Gates, openGates } from "./seams/gates.js";
export { createIdSource, type IdSource } from "./seams/id-source.js";
export { createLoopback, type Loopback } from "./seams/loopback.js";
export { type Random, seededRandom, systemRandom } from "./seams/random.js";
export { type Cancellable, type Clock, systemClock } from "./seams/system-clock.js";
export {
  type ClientConnection,
  CLOSE_LOST,
  CLOSE_NORMAL,
  type CloseReason,
  type Connection,
  type Transport,
} from "./seams/transport.js";
export {
  type Selector,
  SELECTOR_LIMITS,
  type SelectorLimits,
  type SelectorProblem,
  selectorProblem,
  SelectorSchema,
  type Watch,
  WatchSchema,
} from "./selector/selector.js";
export {
  WALK_LIMITS,
  type WalkInput,
  type WalkLimits,
  type WalkResult,
  walkSelector,
} from "./selector/walk.js";
export {
  type BaseView,
  type Held,
  LayeredView,
  type LayeredViewOptions,
  type SkippedLayer,
  type ViewLayer,
} from "./view/layered-view.js";
export {
  type AppendMessage,
  type AuthMessage,
  type ClientMessage,
  ClientMessageSchema,
  type ClientRequest,
  type CommitMessage,
  type Cursor,
  type EventRef,
  type HelloMessage,
  type LogoutMessage,
  MAX_OUTSTANDING_EVENTS,
  MAX_WATCHES,
  type PingMessage,
  type PongMessage,
  type RequestId,
  type SpaceCloseMessage,
  type SpaceCreateMessage,
  type SpaceOpenMessage,
  type WatchSetMessage,
} from "./wire/client-messages.js";
export {
  encodeClientMessage,
  encodeServerMessage,
  MESSAGE_LIMITS,
  type MessageLimits,
  type Parsed,
  parseClientMessage,
  parseServerMessage,
} from "./wire/parse.js";
export { wireSchemaHash } from "./wire/schema-hash.js";
export {
  type ChallengeMessage,
  type EntryState,
  type ErrorMessage,
  type FrameMessage,
  type GoneRow,
  type OkMessage,
  type RequestType,
  type Results,
  ResultSchemas,
  type RevokedMessage,
  type Row,
  type ServerMessage,
  ServerMessageSchema,
  type SupersededMessage,
} from "./wire/server-messages.js";
export { authMessageToSign, type AuthStatement, genesisMessageToSign } from "./wire/signing.js";
export { WIRE_HISTORY, WIRE_VERSION, type WireVersionNote } from "./wire/version.js";
export { connectionOver, type WebSocketLike, webSocketTransport } from "./seams/web-socket.js";
