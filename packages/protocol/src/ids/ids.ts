import { isWellFormedText } from "../base/text.js";
import { ProtocolError } from "../errors/refusals.js";

declare const brand: unique symbol;

/** A primitive that only its constructor makes, so that one id is never taken for another. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A principal: the `did:key` of an Ed25519 public key. */
export type Principal = Brand<string, "Principal">;
/** A space: the `did:key` of the space's own Ed25519 key (R31). */
export type SpaceId = Brand<string, "SpaceId">;
/** A session, minted by the client: 1..128 characters of `A-Z a-z 0-9 _ - . ~`, never "server". */
export type SessionId = Brand<string, "SessionId">;
/** A durable event: 1..128 printable ASCII characters without space. */
export type EventId = Brand<string, "EventId">;
/** A document: 1..256 characters without space, control characters or lone surrogates. */
export type DocId = Brand<string, "DocId">;
/** A branch: 1..128 characters of `A-Z a-z 0-9 _ - . ~ /`. */
export type BranchName = Brand<string, "BranchName">;
/** A position in a space's one sequence: an integer of 0 or more; 0 is before the first commit. */
export type Seq = Brand<number, "Seq">;
/** A client's own counter of commits within one open of a session (R27): an integer, 0 or more. */
export type LocalSeq = Brand<number, "LocalSeq">;
/** A lease holder: 1..128 printable ASCII characters without space. */
export type HolderId = Brand<string, "HolderId">;
/** `${patternId}/${nodeName}@${pieceId}`: a node of a piece, the same after every restart. */
export type ActionId = Brand<string, "ActionId">;

// base58btc of the multicodec prefix ed01 and 32 bytes always has 47 characters and begins "6Mk".
const ED25519_DID = /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/;
const SESSION = /^[A-Za-z0-9_\-.~]{1,128}$/;
const PRINTABLE = /^[\x21-\x7e]{1,128}$/;
const BRANCH = /^[A-Za-z0-9_\-.~/]{1,128}$/;
// White space and controls of all of Unicode, not of ASCII alone: an id is printed and compared.
const DOC = /^[^\s\p{Cc}\u2028\u2029]{1,256}$/u;

/** The branch that every space has. */
export const MAIN_BRANCH = "main" as BranchName;

/** True for the form of an Ed25519 `did:key`; whether it is a point of the curve shows at use. */
export function isPrincipal(value: unknown): value is Principal {
  return typeof value === "string" && ED25519_DID.test(value);
}
/** True for a space's id. */
export function isSpaceId(value: unknown): value is SpaceId {
  return typeof value === "string" && ED25519_DID.test(value);
}
/**
 * True for an id that a client may mint. "server" is none: it stands for the absence of an acting
 * session in `firedAt` (seed 000 §2), and a client that owned it would act as nobody.
 */
export function isSessionId(value: unknown): value is SessionId {
  return typeof value === "string" && value !== "server" && SESSION.test(value);
}
/** True for an event id. */
export function isEventId(value: unknown): value is EventId {
  return typeof value === "string" && PRINTABLE.test(value);
}
/** True for a document id. */
export function isDocId(value: unknown): value is DocId {
  return (
    typeof value === "string" && value.length <= 256 && DOC.test(value) && isWellFormedText(value)
  );
}
/** True for a branch name. */
export function isBranchName(value: unknown): value is BranchName {
  return typeof value === "string" && BRANCH.test(value);
}
/** True for a lease holder's id. */
export function isHolderId(value: unknown): value is HolderId {
  return typeof value === "string" && PRINTABLE.test(value);
}
/** True for a safe integer of 0 or more. */
export function isSeq(value: unknown): value is Seq {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
/** True for a safe integer of 0 or more. */
export function isLocalSeq(value: unknown): value is LocalSeq {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** @throws ProtocolError unless {@link isPrincipal}. */
export function principal(value: string): Principal {
  return checked(value, isPrincipal, "a did:key of an Ed25519 key");
}
/** @throws ProtocolError unless {@link isSpaceId}. */
export function spaceId(value: string): SpaceId {
  return checked(value, isSpaceId, "a space id (the did:key of an Ed25519 key)");
}
/** @throws ProtocolError unless {@link isSessionId}. */
export function sessionId(value: string): SessionId {
  return checked(value, isSessionId, 'a session id (1..128 of A-Z a-z 0-9 _ - . ~, not "server")');
}
/** @throws ProtocolError unless {@link isEventId}. */
export function eventId(value: string): EventId {
  return checked(value, isEventId, "an event id (1..128 printable ASCII characters, no space)");
}
/** @throws ProtocolError unless {@link isDocId}. */
export function docId(value: string): DocId {
  return checked(value, isDocId, "a document id (1..256 characters, no space or control)");
}
/** @throws ProtocolError unless {@link isBranchName}. */
export function branchName(value: string): BranchName {
  return checked(value, isBranchName, "a branch name (1..128 of A-Z a-z 0-9 _ - . ~ /)");
}
/** @throws ProtocolError unless {@link isHolderId}. */
export function holderId(value: string): HolderId {
  return checked(value, isHolderId, "a holder id (1..128 printable ASCII characters, no space)");
}
/** @throws ProtocolError unless {@link isSeq}. */
export function seq(value: number): Seq {
  return checked(value, isSeq, "a seq (an integer of 0 or more)");
}
/** @throws ProtocolError unless {@link isLocalSeq}. */
export function localSeq(value: number): LocalSeq {
  return checked(value, isLocalSeq, "a local seq (an integer of 0 or more)");
}
/** The id of a node's action; it names the same node after a restart. */
export function actionId(patternId: string, nodeName: string, pieceId: DocId): ActionId {
  return `${patternId}/${nodeName}@${pieceId}` as ActionId;
}

function checked<T, B extends T>(value: T, guard: (v: unknown) => v is B, expected: string): B {
  if (guard(value)) return value;
  throw new ProtocolError(`${JSON.stringify(value)?.slice(0, 80)} is not ${expected}.`);
}
