import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeClientMessage,
  encodeServerMessage,
  LimitError,
  parseClientMessage,
  parseServerMessage,
  ProtocolError,
} from "../../src/index.js";
import { createArbitraries } from "../../src/testing/index.js";
import { CLIENT_MESSAGES, ROWS, SERVER_MESSAGES, space, stream } from "./messages.js";

type Bag = Record<string, unknown>;

function refusal(text: string): ProtocolError | LimitError {
  const parsed = parseClientMessage(text);
  if (parsed.ok) throw new Error(`accepted: ${JSON.stringify(parsed.message)}`);
  return parsed.error;
}

/** An append whose payload is the given JSON text. */
const appendText = (payload: string): string =>
  `{"type":"append","req":3,"space":"${space}","append":{"localSeq":1,"stream":"${stream}",` +
  `"entry":{"eventId":"e1","payload":${payload}}}}`;

test.each(CLIENT_MESSAGES.map((message) => [message.type, message] as const))(
  "[PR-W1] a client's %s survives the wire",
  (_type, message) => {
    const parsed = parseClientMessage(encodeClientMessage(message));
    expect(parsed).toEqual({ ok: true, message });
  },
);

test.each(SERVER_MESSAGES.map((message) => [message.type, message] as const))(
  "[PR-W1] a server's %s survives the wire",
  (_type, message) => {
    const parsed = parseServerMessage(encodeServerMessage(message));
    expect(parsed).toEqual({ ok: true, message });
  },
);

/** Every object of an envelope, values of documents and access lists left out. */
function envelopes(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : [[...path]];
  const inner = Object.entries(value).filter(
    ([key]) => !["payload", "value", "ifAbsent", "insert", "acl", "error", "keys"].includes(key),
  );
  return [...own, ...inner.flatMap(([key, part]) => envelopes(part, [...path, key]))];
}

function withExtra(message: unknown, path: readonly string[], key: string): string {
  const copy = JSON.parse(JSON.stringify(message)) as Bag;
  const at = path.reduce<Bag>((object, step) => object[step] as Bag, copy);
  Object.defineProperty(at, key, { value: 1, enumerable: true });
  return JSON.stringify(copy);
}

test.each(["extra", "__proto__", "class"])(
  "[PR-W2] an unknown key %s is refused at every level of every message",
  (key) => {
    let tried = 0;
    for (const message of CLIENT_MESSAGES) {
      for (const path of envelopes(message)) {
        expect(parseClientMessage(withExtra(message, path, key)).ok, path.join(".")).toBe(false);
        tried += 1;
      }
    }
    for (const message of SERVER_MESSAGES) {
      for (const path of envelopes(message)) {
        expect(parseServerMessage(withExtra(message, path, key)).ok, path.join(".")).toBe(false);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(60);
  },
);

test("[PR-W3] the size of a message counts in bytes, and is checked before anything is read", () => {
  const text = appendText(`"${"é".repeat(100)}"`);
  const bytes = new TextEncoder().encode(text).length;
  expect(parseClientMessage(text, { maxBytes: bytes }).ok).toBe(true);
  const over = parseClientMessage(text, { maxBytes: bytes - 1 });
  expect(over.ok || over.error).toBeInstanceOf(LimitError);
  const garbage = parseClientMessage("{".repeat(5_000_000));
  expect(garbage.ok || garbage.error).toBeInstanceOf(LimitError);
});

test("[PR-W4] what is no message is a protocol error with a path", () => {
  for (const text of ["", "{", "null", "[]", "1", '"ping"', "{}", '{"type":"nope"}']) {
    expect(refusal(text)).toBeInstanceOf(ProtocolError);
  }
  const text = JSON.stringify({
    type: "commit",
    req: 1,
    space,
    commit: { localSeq: -1, reads: [], ops: [] },
  });
  expect((refusal(text) as ProtocolError).path).toEqual(["commit", "localSeq"]);
});

test.each([
  ['{"type":"logout","req":5,"x":1}', 5],
  ['{"type":"nope","req":6}', 6],
  ['{"type":"logout","req":"6"}', undefined],
  ['{"type":"logout","req":-1}', undefined],
  ["null", undefined],
])("[PR-W4] the request's number in %s is %s", (text, req) => {
  const parsed = parseClientMessage(text);
  expect(parsed.ok).toBe(false);
  expect("req" in parsed ? parsed.req : undefined).toBe(req);
});

test("[PR-W5] −0 becomes 0 and an own __proto__ stays data", () => {
  const parsed = parseClientMessage(appendText('{"__proto__":{"x":-0},"n":[-0]}'));
  if (!parsed.ok || parsed.message.type !== "append") throw new Error("refused");
  const { payload } = parsed.message.append.entry;
  expect(JSON.stringify(payload)).toBe('{"__proto__":{"x":0},"n":[0]}');
  expect(Object.is((payload as { n: number[] }).n[0], 0)).toBe(true);
  expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
});

test.each([
  ["an infinity", '{"a":[1e999]}', ["a", 0]],
  ["a lone surrogate", '{"a":"\\ud800"}', ["a"]],
  ["a lone surrogate in a key", '{"\\udc00":1}', ["\udc00"]],
])("[PR-W5] %s in a payload is refused with its path", (_title, payload, path) => {
  const error = refusal(appendText(payload)) as ProtocolError;
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error.path).toEqual(["append", "entry", "payload", ...path]);
});

test("[PR-W5] a payload of 64 levels is taken, and one of 65 is a limit error", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect(parseClientMessage(appendText(nested(64))).ok).toBe(true);
  expect(refusal(appendText(nested(65)))).toBeInstanceOf(LimitError);
  expect(refusal(appendText(nested(1_000_000)))).toBeInstanceOf(LimitError);
});

test("[PR-W6] a row has one content, an entry is known or unknown", () => {
  const frame = SERVER_MESSAGES.find((message) => message.type === "frame");
  const parse = (part: object): boolean =>
    parseServerMessage(JSON.stringify({ ...frame, ...part })).ok;
  const [whole, absent] = ROWS;
  expect(parse({ rows: [whole] })).toBe(true);
  expect(parse({ rows: [{ ...whole, absent: true }] })).toBe(false);
  expect(parse({ rows: [{ ...absent, absent: undefined }] })).toBe(false);
  expect(parse({ rows: [{ ...absent, absent: false }] })).toBe(false);
  const entry = { stream, eventId: "e" };
  expect(parse({ entries: [{ ...entry, unknown: true }] })).toBe(true);
  expect(parse({ entries: [entry] })).toBe(false);
  expect(parse({ entries: [{ ...entry, seq: 1 }] })).toBe(false);
  expect(parse({ entries: [{ ...entry, seq: 1, index: 0, unknown: true }] })).toBe(false);
});

test("[PR-W9] parsing never throws: noise, damaged messages and JSON of any kind", () => {
  const { json } = createArbitraries(fc);
  const good = [...CLIENT_MESSAGES, ...SERVER_MESSAGES].map((message) => JSON.stringify(message));
  const damaged = fc
    .tuple(fc.constantFrom(...good), fc.nat(), fc.nat({ max: 8 }), fc.string({ maxLength: 4 }))
    .map(([text, at, cut, insert]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + insert + text.slice(place + cut);
    });
  const replaced = fc.tuple(fc.constantFrom(...good), json, fc.nat()).map(([text, value, at]) => {
    const message = JSON.parse(text) as Bag;
    const keys = Object.keys(message).slice(1);
    const key = keys[at % Math.max(1, keys.length)];
    return JSON.stringify(key === undefined ? value : { ...message, [key]: value });
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), damaged, replaced), (text) => {
      for (const parsed of [parseClientMessage(text), parseServerMessage(text)]) {
        if (parsed.ok) continue;
        expect([ProtocolError, LimitError]).toContain(parsed.error.constructor);
        expect(parsed.error.message.length).toBeLessThan(1000);
      }
    }),
    { numRuns: 1500 },
  );
});

const malformed = Array.from({ length: 200_000 }, () => ({}));
const append = { localSeq: 1, stream, entry: { eventId: "e1", payload: 1 } };
const commit = { localSeq: 1, reads: [], ops: [] };
const open = { type: "space.open", req: 1, space, watches: [] };

test.each([
  ["watches", { ...open, watches: malformed }],
  ["events", { ...open, events: malformed }],
  ["keys of a selector", { ...open, watches: [watchOfKeys(malformed)] }],
  ["reads", { type: "commit", req: 1, space, commit: { ...commit, reads: malformed } }],
  ["operations", { type: "commit", req: 1, space, commit: { ...commit, ops: malformed } }],
  [
    "steps of a patch",
    {
      type: "commit",
      req: 1,
      space,
      commit: { ...commit, ops: [{ op: "patch", id: "node:a", value: malformed }] },
    },
  ],
  [
    "injected keys",
    {
      type: "append",
      req: 1,
      space,
      append: { ...append, entry: { ...append.entry, runtimeInjectedEventKeys: malformed } },
    },
  ],
])(
  "[PR-W9] more malformed %s than a call has arguments are refused by the first",
  (_what, message) => {
    expect(refusal(JSON.stringify(message))).toBeInstanceOf(ProtocolError);
  },
);

/** A watch whose selector names a key for each part. */
function watchOfKeys(parts: readonly unknown[]): Bag {
  const selector = { kind: "object", keys: { ...parts } };
  return { id: "w", root: { id: "piece:a" }, selector };
}
