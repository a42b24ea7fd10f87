import {
  type ClientMessage,
  docId,
  eventId,
  identityFromSeed,
  localSeq,
  type Row,
  SCOPE_KINDS,
  seq,
  type ServerMessage,
  sessionId,
  spaceId,
  toWireError,
  ConflictError,
  userScopeKey,
  SPACE_SCOPE_KEY,
} from "../../src/index.js";

export const ana = identityFromSeed(new Uint8Array(32).fill(1)).did;
export const space = spaceId(identityFromSeed(new Uint8Array(32).fill(9)).did);
export const stream = docId("stream:s");
const doc = docId("node:d");
const path = ["a", 0, "__proto__"];

/** A message of every kind, each field of each used somewhere. */
export const CLIENT_MESSAGES: readonly ClientMessage[] = [
  { type: "hello", version: 1 },
  {
    type: "auth",
    req: 0,
    principal: ana,
    sessionId: sessionId("s1"),
    openNonce: "n",
    challenge: "c",
    signature: "sig",
  },
  { type: "space.create", req: 1, space, acl: { [ana]: "OWNER", "*": "READ" }, signature: "sig" },
  {
    type: "space.open",
    req: 2,
    space,
    cursor: { historyId: "h", seq: seq(4) },
    watches: [
      {
        id: "w1",
        root: { id: doc, scope: "user" },
        selector: { kind: "follow", to: { kind: "any" } },
      },
      { id: "w2", pieces: true },
    ],
    events: [{ stream, eventId: eventId("e1") }],
  },
  { type: "space.open", req: 2, space, watches: [] },
  { type: "space.close", req: 3, space },
  { type: "logout", req: 4 },
  { type: "watch.set", req: 5, space, watches: [{ id: "w", root: { id: doc } }] },
  {
    type: "commit",
    req: 6,
    space,
    commit: {
      localSeq: localSeq(7),
      reads: SCOPE_KINDS.flatMap((scope) => [
        { id: doc, scope, path, seq: seq(3), kind: "value" as const },
        { id: doc, path: [], seq: seq(0), kind: "shape" as const },
      ]),
      ops: [
        { id: doc, op: "set", value: { deep: [null, true, -1.5, "é😀"] } },
        { id: doc, scope: "session", op: "delete" },
        {
          id: doc,
          op: "patch",
          value: [
            { op: "replace", path, value: 1 },
            { op: "add", path, value: null },
            { op: "remove", path },
            { op: "remove", path, value: "x" },
            { op: "append", path: [], value: {}, ifAbsent: [] },
            { op: "addUnique", path, value: [] },
            { op: "increment", path, value: -2, ifAbsent: 0 },
            { op: "splice", path, index: 0, remove: 1, insert: ["a", 1] },
            { op: "splice", path, index: 0, remove: 1, insert: "text", ifAbsent: "" },
          ],
        },
      ],
      preconditions: [
        { kind: "entity-value-hash", id: doc, scope: "user", hash: "h" },
        { kind: "create-only", id: doc },
      ],
      branch: "draft" as never,
    },
  },
  {
    type: "append",
    req: 8,
    space,
    append: {
      localSeq: localSeq(1),
      stream,
      entry: {
        eventId: eventId("e1"),
        payload: { any: "thing" },
        clientSeq: 4,
        firedAt: { user: ana, session: sessionId("s1"), clientSeq: 4 },
        retryOf: eventId("e0"),
        rendererTrusted: true,
        runtimeInjectedEventKeys: ["k"],
      },
    },
  },
  { type: "ping" },
  { type: "pong" },
];

const rowHead = { id: doc, scopeKey: SPACE_SCOPE_KEY, seq: seq(4), cover: "derived" as const };

export const ROWS: readonly Row[] = [
  { ...rowHead, value: { a: 1 } },
  { ...rowHead, scopeKey: userScopeKey(ana), cover: "authored", absent: true },
  {
    ...rowHead,
    cover: "system",
    patch: { from: seq(2), ops: [{ op: "append", path: [], value: 1 }] },
  },
];

const conflict = {
  id: doc,
  scopeKey: SPACE_SCOPE_KEY,
  path: ["a"],
  readSeq: seq(1),
  conflictingSeq: seq(2),
};

/** A message of every kind, each field of each used somewhere. */
export const SERVER_MESSAGES: readonly ServerMessage[] = [
  { type: "challenge", version: 1, serverId: "srv", challenge: "c", expiresAt: 1_700_000_000_000 },
  { type: "ok", req: 1, result: { resumed: true } },
  { type: "ok", req: 1, result: { seq: seq(3) } },
  { type: "ok", req: 1, result: { seq: seq(3), index: 1 } },
  { type: "ok", req: 1, result: {} },
  {
    type: "ok",
    req: 1,
    result: { seq: seq(9), watermark: seq(8), historyId: "h", level: "WRITE", resumed: false },
  },
  {
    type: "error",
    req: 1,
    error: toWireError(new ConflictError("stale", { conflicts: [conflict] })),
  },
  { type: "error", error: toWireError(new Error("hidden")) },
  {
    type: "frame",
    space,
    seq: seq(9),
    watermark: seq(8),
    reset: true,
    rows: ROWS,
    gone: [{ id: doc, scopeKey: userScopeKey(ana) }],
    entries: [
      {
        stream,
        eventId: eventId("e1"),
        seq: seq(8),
        index: 0,
        consequenced: true,
        status: "errored",
        error: "boom",
        reason: "handler",
      },
      { stream, eventId: eventId("e2"), seq: seq(9), index: 1 },
      { stream, eventId: eventId("e3"), unknown: true },
    ],
    frontiers: [{ stream, seq: seq(8) }],
  },
  { type: "superseded" },
  { type: "revoked", space, reason: "the access list changed" },
  { type: "ping" },
  { type: "pong" },
];
