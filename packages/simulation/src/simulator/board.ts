import type { PatternFile } from "../scenario/file.js";
import { ACCESS_CHANGES, type NamedChange } from "./access-changes.js";

type Op = readonly unknown[];

const K = ["payload", "k"] as const;
const N = ["payload", "n"] as const;

/** One line of the board's log. What a handler does is told by its lines, never by ids alone (fault class 5). */
const LINE: Op = [
  "append",
  "log",
  ["obj", "k", K, "key", ["eventKey"], "who", ["principal"], "d", ["get", "double"]],
];

const asOp = (change: NamedChange): Op =>
  change.kind === "grant" ? ["grant", change.who, change.level] : ["revoke", change.who];

/**
 * What the payload's number says is asked of the access list, beside what tells that the run was one. Nobody watches
 * `hops` for a fall: the echo of a cascade goes with its sender's, and its own wave may be the next (decision 21).
 */
const ACCESS: Readonly<Record<string, readonly Op[]>> = Object.fromEntries(
  Object.entries(ACCESS_CHANGES).map(([name, choices]) => [
    name,
    [
      ["increment", "hops", 1],
      LINE,
      ...choices.map((changes, at): Op => ["if", ["eq", N, at], changes.map(asOp)]),
    ],
  ]),
);

const HANDLERS: Readonly<Record<string, readonly Op[]>> = {
  ...ACCESS,
  inc: [["increment", "count", 1], LINE],
  rmw: [LINE, ["set", "total", ["+", ["get", "total"], N]]],
  say: [["set", "note", K], LINE],
  own: [["append", "mine", K], ["increment", "tab", 1], ["set", "last", K], LINE],
  push: [["append", "tags", K], LINE],
  add: [["append", "items", ["obj", "id", K, "n", N]], LINE],
  fill: [["set", "form", ["a"], K], LINE],
  chain: [
    LINE,
    ["send", "hop", ["obj", "k", ["concat", K, ".1"], "n", N]],
    ["send", "hop", ["obj", "k", ["concat", K, ".2"], "n", 0]],
    ["increment", "count", 1],
  ],
  vouch: [LINE, ["send", "invite", ["obj", "k", ["concat", K, ".v"], "n", N]]],
  hop: [
    ["increment", "hops", 1],
    LINE,
    ["if", ["gt", N, 0], [["send", "hop", ["obj", "k", ["concat", K, ".h"], "n", ["-", N, 1]]]]],
  ],
  boom: [["increment", "count", 5], LINE, ["throw", ["concat", "boom ", K]]],
  nope: [["set", "note", "never"], LINE, ["abort", "nope"]],
  odd: [LINE, ["if", ["gt", N, 4], [["throw", "odd"]]]],
  slow: [LINE, ["await", "slow"], ["increment", "count", 1]],
  busy: [["set", "spent", ["busy", ["*", N, 25], K]], LINE],
  gone: [["increment", "count", 1], LINE],
  ask: [["set", "url", ["concat", "https://x.test/", N]], LINE],
};

const CELLS: PatternFile["cells"] = {
  count: { default: 0 },
  hops: { default: 0 },
  total: { default: 0 },
  note: { default: "" },
  spent: { default: "" },
  log: { default: [] },
  tags: { default: [] },
  items: { default: [] },
  form: { default: { a: "", b: "" } },
  mine: { default: [], scope: "user" },
  tab: { default: 0, scope: "session" },
  last: { default: "", scope: "session" },
  url: { default: "" },
};

const COMPUTED: PatternFile["computed"] = {
  double: ["*", ["get", "count"], 2],
  size: ["len", ["get", "log"]],
  label: ["concat", ["get", "note"], "#", ["get", "count"]],
  pair: ["obj", "c", ["get", "count"], "d", ["get", "double"]],
  deep: ["len", ["concat", ["get", "label"], ["get", "size"]]],
  hot: ["if", ["gt", ["get", "count"], 3], ["get", "note"], "cold"],
  rowCount: ["len", ["get", "rows"]],
  first: ["get", "form", "a"],
  body: ["get", "page", "result"],
};

/** What is asked for while there is an address. */
const EFFECTS: PatternFile["effects"] = {
  page: { fetch: { url: ["if", ["eq", ["get", "url"], ""], null, ["get", "url"]] } },
};

const MAPS: PatternFile["maps"] = {
  rows: {
    over: "items",
    key: "id",
    expr: ["obj", "id", ["item", "id"], "n2", ["*", ["item", "n"], 2]],
  },
};

/** The second version derives differently and has no handler for `gone` (R7). */
function board(version: 1 | 2): PatternFile {
  const { gone, ...kept } = HANDLERS;
  const handlers = version === 1 ? { ...kept, gone } : kept;
  return {
    cells: CELLS,
    computed: { ...COMPUTED, version: ["+", version, 0] },
    maps: MAPS,
    effects: EFFECTS,
    handlers: handlers as unknown as PatternFile["handlers"],
  };
}

/** The two patterns of every plan. A piece is swapped from one to the other and back. */
export const PATTERNS: Readonly<Record<"board" | "board2", PatternFile>> = {
  board: board(1),
  board2: board(2),
};

/** Streams of the board, by how a client may fire at them. */
export const STREAMS = Object.keys(HANDLERS);

/** Cells by name, with what they read as before they are written. */
export const BOARD_CELLS = CELLS ?? {};

/** Names of what the board derives, lists included. */
export const DERIVED = [...Object.keys(COMPUTED ?? {}), "version", "rows"];
