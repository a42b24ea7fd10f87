import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openBetterSqlite3 } from "../../src/index.js";
import { describeSqlDriver } from "../../src/testing/index.js";
import { temporaryFolder } from "../support/harness.js";

describe("better-sqlite3 in memory", () =>
  describeSqlDriver(() => openBetterSqlite3({ path: ":memory:" }), { test, expect }));

describe("better-sqlite3 in a file", () =>
  describeSqlDriver(
    () => {
      const folder = temporaryFolder();
      const driver = openBetterSqlite3({ path: join(folder.path, "store.db") });
      const close = driver.close.bind(driver);
      return Object.assign(driver, {
        close: () => {
          close();
          folder.remove();
        },
      });
    },
    { test, expect },
  ));
