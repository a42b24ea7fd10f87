import {
  type DocId,
  type Identity,
  nodeIdFor,
  type SpaceId,
  streamIdFor,
} from "@tidemark/protocol";

/** What an intruder tries. */
export const TRICKS = [
  "garbage",
  "unasked",
  "false-name",
  "forged",
  "no-right",
  "bent",
  "overheard",
] as const;

export type Trick = (typeof TRICKS)[number];

/** A request without its number. */
export type Body = Readonly<Record<string, unknown>>;

/** Whom and what an intruder goes for. */
export interface Target {
  readonly space: SpaceId;
  readonly piece: DocId;
  readonly me: Identity;
  /** Somebody who may do what the intruder may not. */
  readonly victim: Identity;
}

const DEEP = 100_000;
const HUGE = 4_300_000;

/** Texts that are no message. */
export function garbage(): readonly string[] {
  return [
    "",
    "null",
    "[]",
    "{",
    "\u0000",
    '{"type":"__proto__"}',
    '{"type":"constructor","req":1}',
    '{"__proto__":{"type":"ping"}}',
    '{"type":"hello","version":99}',
    '{"type":"ping","extra":1}',
    '{"type":"commit","req":-1}',
    '{"type":"commit","req":1e400}',
    `{"type":"ping","pad":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`,
  ];
}

/** A text beyond what a server takes in. */
export function huge(): string {
  return JSON.stringify({ type: "ping", pad: "x".repeat(HUGE) });
}

/** One well-formed request of every type that changes something. */
export function honest({ space, piece, me }: Target): readonly Body[] {
  const node = nodeIdFor(piece, "count");
  const ops = (...all: readonly object[]): Body => ({
    type: "commit",
    space,
    commit: { localSeq: 1, reads: [], ops: all },
  });
  return [
    { type: "space.create", space, acl: { [me.did]: "OWNER" }, signature: me.sign("x") },
    ops({ op: "set", id: node, value: 999 }),
    ops({ op: "set", id: node, scope: "session", value: 999 }),
    ops({ op: "delete", id: node }),
    ops({ op: "patch", id: node, value: [{ op: "increment", path: [], value: 999 }] }),
    ops({ op: "delete", id: "sys:acl" }),
    ops({ op: "set", id: "sys:acl", value: { [me.did]: "OWNER" } }),
    {
      type: "append",
      space,
      append: { localSeq: 1, stream: streamIdFor(piece, "inc"), entry: intrusion("no-right") },
    },
  ];
}

/** An event as an intruder fires it. */
function intrusion(how: string): Body {
  return { eventId: `intrusion-${how}`, payload: { k: `intrusion ${how}`, n: 1 } };
}

/** What nobody may send, whatever his rights: class, holder, another's name and instances, processing state. */
export function forged({ space, piece, me, victim }: Target): readonly Body[] {
  const stream = streamIdFor(piece, "inc");
  const node = nodeIdFor(piece, "count");
  const append = (more: object, beside: object = {}): Body => ({
    type: "append",
    space,
    append: { localSeq: 1, stream, entry: { ...intrusion("forged"), ...more }, ...beside },
  });
  const commit = (more: object, op: object = { op: "set", id: node, value: 999 }): Body => ({
    type: "commit",
    space,
    commit: { localSeq: 1, reads: [], ops: [op], ...more },
  });
  return [
    append({ firedAt: { user: victim.did, session: "s1" } }),
    append({ firedAt: { session: "server" } }),
    append({ firedAt: { user: me.did, session: "server" } }),
    append({ seq: 1 }),
    append({ consequenced: true }),
    append({ status: "errored", error: "x" }),
    append({ duplicate: true }),
    append({}, { class: "derived" }),
    append({}, { holder: "server" }),
    append({ runtimeInjectedEventKeys: "all" }),
    append({ eventId: "has space" }),
    append({ eventId: "e".repeat(129) }),
    commit({ class: "derived" }),
    commit({ class: "system" }),
    commit({ holder: "server" }),
    commit({ derivedThrough: 1 }),
    commit({ consequenceOf: ["e1"] }),
    commit({ actingPrincipal: victim.did, actingSession: "s1" }),
    commit({}, { op: "set", id: node, value: 9, scopeKey: `user:${victim.did}` }),
    commit({}, { op: "set", id: node, value: 9, scope: `user:${victim.did}` }),
    commit({}, { op: "set", id: "sys:watermark", value: { seq: 99_999 } }),
    commit({}, { op: "set", id: "sys:acl", value: { [me.did]: "OWNER" } }),
    commit({}, { op: "set", id: stream, value: [] }),
    commit({}, { op: "set", id: "node:\u0000", value: 1 }),
    commit({}, { op: "set", id: "node:\ud800", value: 1 }),
    commit({}, { op: "increment", id: node, value: 1 }),
    commit({ branch: "nobody-made-it" }),
    {
      type: "space.open",
      space,
      watches: [{ id: "w", root: { id: node, scope: `user:${victim.did}` } }],
    },
    { type: "space.create", space, acl: { [me.did]: "OWNER" }, signature: me.sign("x") },
  ];
}
