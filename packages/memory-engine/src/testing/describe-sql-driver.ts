import type { TestApi } from "@tidemark/protocol/testing";
import type { SqlDriver } from "../sqlite/driver.js";
import { codeOf, throws } from "./harness.js";

type DriverCase = readonly [title: string, run: (driver: SqlDriver, api: TestApi) => void];

const rows = (driver: SqlDriver): unknown[] => driver.prepare("SELECT n FROM t ORDER BY n").all();

const CASES: readonly DriverCase[] = [
  [
    "[ME-D1] a transaction that throws leaves nothing, and its error comes through",
    (driver, { expect }) => {
      const failure = new Error("mine");
      let caught: unknown;
      try {
        driver.transaction(() => {
          driver.exec("INSERT INTO t VALUES (1)");
          throw failure;
        }, "immediate");
      } catch (error) {
        caught = error;
      }
      expect(caught === failure).toBe(true);
      expect(rows(driver)).toEqual([]);
      const kept = driver.transaction(
        () => driver.prepare("INSERT INTO t VALUES (?)").run(2),
        "immediate",
      );
      expect([kept.changes, rows(driver)]).toEqual([1, [{ n: 2 }]]);
    },
  ],
  [
    "[ME-D2] a transaction whose function returns a promise throws and leaves nothing",
    (driver, { expect }) => {
      const run = (): unknown =>
        driver.transaction(() => {
          driver.exec("INSERT INTO t VALUES (1)");
          return Promise.resolve();
        }, "immediate");
      expect([codeOf(run), rows(driver)]).toEqual(["storage/io", []]);
    },
  ],
  [
    "[ME-D3] a nested transaction throws",
    (driver, { expect }) => {
      const nest = (): unknown =>
        driver.transaction(() => driver.transaction(() => 1, "immediate"), "immediate");
      expect(codeOf(nest)).toBe("storage/io");
      expect(driver.transaction(() => 1, "deferred")).toBe(1);
    },
  ],
  [
    "[ME-D13] a part of a transaction that throws is undone alone",
    (driver, { expect }) => {
      const insert = driver.prepare("INSERT INTO t VALUES (?)");
      const part = (n: number, fails: boolean): unknown =>
        driver.savepoint(() => {
          insert.run(n);
          if (fails) throw new Error("undone");
          return n;
        });
      driver.transaction(() => {
        insert.run(1);
        expect(throws(() => part(2, true))).toBe(true);
        expect(part(3, false)).toBe(3);
      }, "immediate");
      expect(rows(driver)).toEqual([{ n: 1 }, { n: 3 }]);
    },
  ],
  [
    "[ME-D4] an error of SQLite is a storage error that quotes the statement",
    (driver, { expect }) => {
      const insert = driver.prepare("INSERT INTO t VALUES (?)");
      insert.run(1);
      expect(messageOf(() => insert.run(1)).includes("INSERT INTO t VALUES (?)")).toBe(true);
      expect(codeOf(() => insert.run(1))).toBe("storage/io");
      expect(codeOf(() => driver.prepare("SELECT * FROM missing"))).toBe("storage/io");
      expect(codeOf(() => driver.exec("NONSENSE"))).toBe("storage/io");
    },
  ],
  [
    "[ME-D5] values come back as they were bound",
    (driver, { expect }) => {
      const back = driver.prepare("SELECT ? AS v");
      const values = [0, -1, 2 ** 53 - 1, 0.5, "", "é🙂\n", null];
      const got = values.map((value) => (back.get(value) as { v: unknown }).v);
      expect(got).toEqual(values);
      const bytes = (back.get(new Uint8Array([0, 255])) as { v: Uint8Array }).v;
      expect([...bytes]).toEqual([0, 255]);
      expect(driver.prepare("SELECT n FROM t WHERE n = ?").get(7)).toBe(undefined);
    },
  ],
  [
    "[ME-D6] a statement says how many rows it changed",
    (driver, { expect }) => {
      driver.exec("INSERT INTO t VALUES (1), (2), (3)");
      const update = driver.prepare("UPDATE t SET n = n + 10 WHERE n >= ?");
      expect([update.run(2).changes, update.run(99).changes]).toEqual([2, 0]);
      expect(throws(() => driver.prepare("INSERT INTO t VALUES (?)").run())).toBe(true);
    },
  ],
];

function messageOf(fn: () => unknown): string {
  try {
    fn();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What every {@link SqlDriver} must do. `create` opens an empty database. */
export function describeSqlDriver(create: () => SqlDriver, api: TestApi): void {
  for (const [title, run] of CASES) {
    api.test(title, () => {
      const driver = create();
      try {
        driver.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
        run(driver, api);
      } finally {
        driver.close();
      }
    });
  }
}
