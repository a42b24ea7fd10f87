import type { EffectErrorKind } from "../../effects/performer.js";
import { failure } from "../failure.js";
import type { Parameters } from "./sqlite-request.js";
import type { SqliteValue } from "./rows.js";

/** What a query's process is asked. */
export interface Query {
  /** The space's own. What lies outside of it, behind a link too, is none of its databases. */
  readonly folder: string;
  readonly file: string;
  readonly statement: string;
  readonly parameters: Parameters;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** Rows by place, with the names of the places. */
export interface QueryRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqliteValue[])[];
}

/** What it answers. */
export type QueryAnswer = QueryRows | { readonly failure: QueryFailure; readonly message: string };

/** Why a query has no rows, in the words of `query-thread.mjs` and `query-process.mjs`. */
export type QueryFailure =
  | "absent"
  | "busy"
  | "bytes"
  | "memory"
  | "parameters"
  | "rows"
  | "statement"
  | "statements"
  | "store"
  | "unreadable"
  | "writes";

interface Failing {
  readonly kind: EffectErrorKind;
  readonly reason: string;
  readonly words: string;
  /** SQLite's own words say what is wrong with a statement, and quote nothing but it. */
  readonly quoted?: true;
}

const FAILINGS: Readonly<Record<QueryFailure, Failing>> = {
  absent: { kind: "invalid", reason: "database", words: "the space has no such database" },
  busy: { kind: "provider", reason: "busy", words: "the database is being written to" },
  bytes: {
    kind: "too-large",
    reason: "bytes",
    words: "the rows are larger than what a query may give",
  },
  memory: { kind: "too-large", reason: "memory", words: "the query needs more memory than it may" },
  parameters: {
    kind: "invalid",
    reason: "parameters",
    words: "the parameters do not fit the statement",
    quoted: true,
  },
  rows: {
    kind: "too-large",
    reason: "rows",
    words: "there are more rows than a query may give: use LIMIT",
  },
  statement: {
    kind: "invalid",
    reason: "statement",
    words: "the statement cannot be run",
    quoted: true,
  },
  statements: { kind: "refused", reason: "statement", words: "a query is one statement" },
  store: { kind: "refused", reason: "database", words: "this is no database of the space's users" },
  unreadable: { kind: "provider", reason: "database", words: "the database cannot be read" },
  writes: { kind: "refused", reason: "statement", words: "a query writes nothing" },
};

const MAX_QUOTED = 200;

/** @throws EffectError for an answer without rows. */
export function rowsOf(answer: QueryAnswer): QueryRows {
  if ("rows" in answer) return answer;
  const { kind, reason, words, quoted } = FAILINGS[answer.failure];
  const quote = quoted === true ? `: ${answer.message.slice(0, MAX_QUOTED)}` : "";
  throw failure(kind, reason, `sqliteQuery: ${words}${quote}`);
}
