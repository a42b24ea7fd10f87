import { base32nopad } from "@scure/base";
import { canonicalJson } from "../json/canonical.js";
import { canonicalDigest } from "../json/hash.js";
import type { JsonValue } from "../json/json-value.js";
import type { DocId, EventId } from "./ids.js";

/** Access list of a space. */
export const ACL_DOC = "sys:acl" as DocId;
/** The space's watermark. */
export const WATERMARK_DOC = "sys:watermark" as DocId;
/** The client-effect channel; its instances are session-scoped. */
export const EFFECTS_DOC = "sys:effects" as DocId;
/** Index of unresolved attention notices. */
export const ATTENTION_DOC = "sys:attention" as DocId;
/** The documents of the system itself (R20, R35). */
export const RESERVED: readonly DocId[] = Object.freeze([
  ACL_DOC,
  WATERMARK_DOC,
  EFFECTS_DOC,
  ATTENTION_DOC,
]);

/** What a document is, by the prefix of its id; "other" for ids of a user's own making. */
export type DocKind = "piece" | "node" | "stream" | "receipt" | "sys" | "other";

const KINDS: ReadonlySet<string> = new Set(["piece", "node", "stream", "receipt", "sys"]);

/** True for the documents that admit only the writes that the protocol names (R35). */
export function isReserved(id: DocId): boolean {
  return id.startsWith("sys:");
}

/** The kind of a document by its id's prefix. */
export function docKind(id: DocId): DocKind {
  const prefix = id.slice(0, Math.max(0, id.indexOf(":")));
  return KINDS.has(prefix) ? (prefix as DocKind) : "other";
}

/** The document of the piece that `cause` creates: the same cause, the same piece (R20). */
export function pieceIdFor(cause: JsonValue): DocId {
  return hashedId("piece", `{"cause":${canonicalJson(cause)}}`);
}

/** The document of a cell, computed, map or effect of a piece (R20). */
export function nodeIdFor(pieceId: DocId, nodeName: string): DocId {
  return hashedId("node", namedNode(pieceId, nodeName));
}

/** The stream of a handler of a piece (R20, R21). */
export function streamIdFor(pieceId: DocId, nodeName: string): DocId {
  return hashedId("stream", namedNode(pieceId, nodeName));
}

/** An event id that says its time first: a ULID. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Characters of a ULID that are its time. */
const ULID_TIME = 10;

/**
 * The receipt of an event on a stream (R33): the hash of both, behind the time of the event id where
 * that is a ULID. There is one for each event, and a store's index takes what comes in order
 * several times as cheaply as what falls anywhere (docs/decisions/0014).
 */
export function receiptIdFor(eventId: EventId, streamId: DocId): DocId {
  const cause = `{"event":${JSON.stringify(eventId)},"stream":${JSON.stringify(streamId)}}`;
  const time = ULID.test(eventId) ? `${eventId.slice(0, ULID_TIME).toLowerCase()}.` : "";
  return `receipt:${time}${digestOf("receipt", cause)}` as DocId;
}

function namedNode(pieceId: DocId, nodeName: string): string {
  return `{"node":${JSON.stringify(nodeName)},"piece":${JSON.stringify(pieceId)}}`;
}

/** @param cause its canonical text: an id is asked for with each event, and there is one way to write it. */
function hashedId(kind: DocKind, cause: string): DocId {
  return `${kind}:${digestOf(kind, cause)}` as DocId;
}

function digestOf(kind: DocKind, cause: string): string {
  const digest = canonicalDigest("object", `{"cause":${cause},"kind":"${kind}"}`);
  return base32nopad.encode(digest).toLowerCase();
}
