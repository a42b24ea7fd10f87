import { docId, identityFromSeed, type JsonValue, spaceId, toLinkValue } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import { databaseName, readSqliteRequest } from "../../../src/performers/sqlite/sqlite-request.js";
import { SPACE } from "../support/calls.js";

const OTHER = spaceId(identityFromSeed(new Uint8Array(32).fill(2)).did);

function wayOf(run: () => unknown): string {
  try {
    return `it passed: ${JSON.stringify(run())}`;
  } catch (error) {
    if (error instanceof EffectError) return `${error.kind} ${error.details.reason}`;
    throw error;
  }
}

test("[EX-Y45] parameters are JSON scalars by place or by name", () => {
  const of = (params: JsonValue) =>
    readSqliteRequest({ statement: "SELECT 1", params }, SPACE).parameters;
  expect(of([null, true, false, 1, -0, 1.5, 2 ** 53, "x"])).toEqual([
    null,
    1n,
    0n,
    1n,
    0n,
    1.5,
    2 ** 53,
    "x",
  ]);
  expect(of({ a: 3_000_000_000, b_2: "x" })).toEqual({ a: 3_000_000_000n, b_2: "x" });
});

test.each<[string, JsonValue]>([
  ["no object", "SELECT 1"],
  ["no statement", {}],
  ["a statement that is no text", { statement: 1 }],
  ["a very long statement", { statement: `SELECT '${"x".repeat(100_000)}'` }],
  ["an unknown field", { statement: "SELECT 1", file: "/etc/passwd" }],
  ["a parameter that is a list", { statement: "SELECT ?", params: [[1]] }],
  ["a parameter that is an object", { statement: "SELECT :a", params: { a: {} } }],
  ["a parameter without a name", { statement: "SELECT :a", params: { "": 1 } }],
  ["too many parameters", { statement: "SELECT 1", params: Array(1_001).fill(1) }],
  ["a path as its database", { statement: "SELECT 1", database: "../main" }],
  ["a file as its database", { statement: "SELECT 1", database: "/etc/passwd" }],
  ["an empty name", { statement: "SELECT 1", database: "" }],
  ["a number as its database", { statement: "SELECT 1", database: 1 }],
])("[EX-Y45] a request with %s is invalid", (_what, request) => {
  expect(wayOf(() => readSqliteRequest(request, SPACE))).toBe("invalid request");
});

test("[EX-Y40] a database is named, or is a document's, and the two never meet", () => {
  const link = toLinkValue({ id: docId("node:abc") });
  const name = databaseName(link, SPACE);
  expect(name).toMatch(/^@[\w-]{20,80}$/u);
  expect(databaseName(toLinkValue({ id: docId("node:abc"), space: SPACE }), SPACE)).toBe(name);
  expect(databaseName(toLinkValue({ id: docId("node:abd") }), SPACE)).not.toBe(name);
  expect(wayOf(() => databaseName(name, SPACE))).toBe("invalid request");
});

test("[EX-Y40] a link to a part, to a person's instance or into another space names none", () => {
  const of = (rest: object) =>
    wayOf(() => databaseName(toLinkValue({ id: docId("node:abc"), ...rest }), SPACE));
  expect(of({ path: ["x"] })).toBe("invalid request");
  expect(of({ scope: "user" })).toBe("invalid request");
  expect(of({ space: OTHER })).toBe("refused database");
});
