import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import { checkStatement } from "../../../src/performers/sqlite/statement.js";

const passes = (statement: string): boolean => {
  try {
    checkStatement(statement);
    return true;
  } catch (error) {
    if (error instanceof EffectError && error.details.reason === "statement") return false;
    throw error;
  }
};

test("[EX-Y41] queries pass, however they are written", () => {
  for (const statement of [
    "SELECT 1",
    "  select * from t where a = 'pragma' and b like '%--%'",
    "/* so */ -- and so\n WITH x AS (SELECT 1) SELECT * FROM x",
    "VALUES (1), (2)",
    ";SELECT 1;",
    "SELECT \"a\"\"b\", `c`, [d e], 'it''s' FROM t",
    "SELECT :pragma, pragma FROM pragmatic",
  ]) {
    expect([statement, passes(statement)]).toEqual([statement, true]);
  }
});

test("[EX-Y41] nothing else does", () => {
  for (const statement of [
    "",
    ";",
    "-- SELECT 1",
    "/* SELECT 1",
    "INSERT INTO t VALUES (1)",
    "ATTACH 'x' AS y",
    "DETACH y",
    "PRAGMA journal_mode",
    "EXPLAIN SELECT 1",
    "VACUUM INTO 'x'",
    "BEGIN",
    "CREATE TABLE t(a)",
    "'select'; DROP TABLE t".slice(8),
    "(SELECT 1)",
    "SELECT 1\0; DROP TABLE t",
  ]) {
    expect([statement, passes(statement)]).toEqual([statement, false]);
  }
});

test("[EX-Y41] no pragma is read as a table, however its name is quoted", () => {
  const name = "pragma_database_list";
  const spelled = [name, "PRAGMA_database_list", `"${name}"`, `'${name}'`, `[${name}]`];
  for (const table of [...spelled, `\`${name}\``, `main.${name}`, `main . /**/ "${name}"`]) {
    expect([table, passes(`SELECT * FROM ${table}`)]).toEqual([table, false]);
    expect(passes(`SELECT * FROM ${table}('x')`)).toBe(false);
  }
});

test("[EX-Y41] a long statement of openings is read once", () => {
  for (const opening of ["[", '"', "'", "`", "/*", "--"]) {
    expect(passes(opening.repeat(65_536))).toBe(false);
  }
});
