import type { JsonValue } from "@tidemark/protocol";
import { BOARD_CELLS } from "./board.js";

/**
 * What the board must do, said a second time and without any part of the system: the oracle. A handler is a function
 * from what stands to the writes it makes; a derivation is a function of what stands.
 */

export type CellName = string;

/** A write of a reference handler. */
export type ReferenceWrite =
  | { readonly cell: CellName; readonly at: readonly string[]; readonly set: JsonValue }
  | { readonly cell: CellName; readonly append: JsonValue }
  | { readonly cell: CellName; readonly add: number };

/** An event that a reference handler sends on. */
export interface ReferenceSend {
  readonly handler: string;
  readonly payload: Payload;
}

/** Payloads of the simulator: a key that names the event, and a number. */
export interface Payload {
  readonly k: string;
  readonly n: number;
}

/** Who and what a reference run knows. */
export interface ReferenceRun {
  readonly payload: Payload;
  readonly who: string | undefined;
  readonly key: string;
  get(cell: CellName): JsonValue;
}

/** What a handler does where it succeeds; `error` where it must not. */
export interface ReferenceOutcome {
  readonly error?: string;
  readonly writes: readonly ReferenceWrite[];
  readonly sends: readonly ReferenceSend[];
}

type Handler = (run: ReferenceRun) => Partial<ReferenceOutcome>;

/** What is asked of the access list is no write of the run. */
const asking: Handler = (run) => ({ writes: [{ cell: "hops", add: 1 }, line(run)] });

const number = (value: JsonValue): number => (typeof value === "number" ? value : Number.NaN);

/** The line of a run. What it reads of a derivation rests on nothing of the run's own (R22). */
function line(run: ReferenceRun): ReferenceWrite {
  const { payload, key, who } = run;
  const d = number(run.get("count")) * 2;
  return { cell: "log", append: { k: payload.k, key, who: who ?? null, d } };
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  invite: asking,
  expel: asking,
  cede: asking,
  inc: (run) => ({ writes: [{ cell: "count", add: 1 }, line(run)] }),
  rmw: (run) => ({
    writes: [line(run), { cell: "total", at: [], set: number(run.get("total")) + run.payload.n }],
  }),
  say: (run) => ({ writes: [{ cell: "note", at: [], set: run.payload.k }, line(run)] }),
  own: (run) => ({
    writes: [
      { cell: "mine", append: run.payload.k },
      { cell: "tab", add: 1 },
      { cell: "last", at: [], set: run.payload.k },
      line(run),
    ],
  }),
  push: (run) => ({ writes: [{ cell: "tags", append: run.payload.k }, line(run)] }),
  add: (run) => ({
    writes: [{ cell: "items", append: { id: run.payload.k, n: run.payload.n } }, line(run)],
  }),
  fill: (run) => ({ writes: [{ cell: "form", at: ["a"], set: run.payload.k }, line(run)] }),
  chain: (run) => ({
    writes: [line(run), { cell: "count", add: 1 }],
    sends: [
      { handler: "hop", payload: { k: `${run.payload.k}.1`, n: run.payload.n } },
      { handler: "hop", payload: { k: `${run.payload.k}.2`, n: 0 } },
    ],
  }),
  vouch: (run) => ({
    writes: [line(run)],
    sends: [{ handler: "invite", payload: { k: `${run.payload.k}.v`, n: run.payload.n } }],
  }),
  hop: (run) => ({
    writes: [{ cell: "hops", add: 1 }, line(run)],
    sends:
      run.payload.n > 0
        ? [{ handler: "hop", payload: { k: `${run.payload.k}.h`, n: run.payload.n - 1 } }]
        : [],
  }),
  boom: (run) => ({ error: `boom ${run.payload.k}` }),
  nope: () => ({ error: "nope" }),
  odd: (run) => (run.payload.n > 4 ? { error: "odd" } : { writes: [line(run)] }),
  slow: (run) => ({ writes: [line(run), { cell: "count", add: 1 }] }),
  busy: (run) => ({ writes: [{ cell: "spent", at: [], set: run.payload.k }, line(run)] }),
  ask: (run) => ({
    writes: [{ cell: "url", at: [], set: `https://x.test/${run.payload.n}` }, line(run)],
  }),
  gone: (run) => ({ writes: [{ cell: "count", add: 1 }, line(run)] }),
};

/** What the handler of a name must do with what stands. */
export function referenceRun(handler: string, run: ReferenceRun): ReferenceOutcome {
  const body = HANDLERS[handler];
  if (!body) return { error: "no handler", writes: [], sends: [] };
  return { writes: [], sends: [], ...body(run) };
}

/** What a cell reads as before it is written. */
export function initialOf(cell: CellName): JsonValue {
  return (BOARD_CELLS[cell]?.default ?? null) as JsonValue;
}

const list = (value: JsonValue): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const field = (value: JsonValue | undefined, name: string): JsonValue =>
  (value as Readonly<Record<string, JsonValue>> | null | undefined)?.[name] ?? null;

/** Everything that the board derives, by name, from its space-scoped cells. */
export function referenceDerived(
  get: (cell: CellName) => JsonValue,
  version: 1 | 2,
): Readonly<Record<string, JsonValue>> {
  const count = number(get("count"));
  const note = String(get("note"));
  const size = list(get("log")).length;
  const label = `${note}#${count}`;
  const rows = list(get("items")).map((item) => ({
    id: field(item, "id"),
    n2: number(field(item, "n")) * 2,
  }));
  return {
    double: count * 2,
    size,
    label,
    pair: { c: count, d: count * 2 },
    deep: [...`${label}${size}`].length,
    hot: count > 3 ? note : "cold",
    rowCount: rows.length,
    first: field(get("form"), "a"),
    body: echoOf(String(get("url"))),
    version,
    rows,
  };
}

/** What the world outside answers to an address, once it has; nothing is asked of none. */
export function echoOf(url: string): JsonValue {
  return url === "" ? null : `echo of ${url}`;
}

/** What derivations rest on handlers alone: nobody else writes what they read. */
export const HANDLER_FED = ["double", "size", "pair", "rowCount"] as const;
