import {
  openBetterSqlite3,
  openEngine,
  type Engine,
  type SqlDriver,
} from "@tidemark/memory-engine";
import {
  describeEngine,
  describeSqlDriver,
  type EngineHarness,
} from "@tidemark/memory-engine/testing";
import { identityFromSeed, seededRandom, spaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { describe, expect, test } from "vitest";
import { runGuide } from "./support.js";

const guide = await runGuide("docs/guides/embedding.md");
const objectDriver = guide.exports["objectDriver"] as (storage: unknown) => SqlDriver;

test("the program of the guide to embedding prints what it says", () => {
  expect(guide.printed).toEqual(["2", "true"]);
});

/** The storage of an object, as far as the guide's driver uses it, on SQLite in memory. */
function objectStorage(): unknown {
  const driver = openBetterSqlite3({ path: ":memory:" });
  let depth = 0;
  return {
    sql: {
      exec(text: string, ...params: readonly never[]) {
        const rows = runStatement(driver, text, params);
        return { toArray: () => rows };
      },
    },
    transactionSync<T>(fn: () => T): T {
      depth += 1;
      try {
        return depth === 1 ? driver.transaction(fn, "immediate") : driver.savepoint(fn);
      } finally {
        depth -= 1;
      }
    },
  };
}

function runStatement(driver: SqlDriver, text: string, params: readonly never[]): unknown[] {
  const answers = /^\s*(?:select|with|pragma|explain)\b|\breturning\b/iu.test(text);
  if (answers) return driver.prepare(text).all(...params);
  if (text.includes("?")) driver.prepare(text).run(...params);
  else driver.exec(text);
  return [];
}

describe("the guide's driver", () => {
  describeSqlDriver(() => objectDriver(objectStorage()), { test, expect });
});

describe("a store on the guide's driver", () => {
  describeEngine(onObject, { test, expect });
});

function onObject(): EngineHarness {
  const clock = new VirtualClock();
  const opened: Engine[] = [];
  return {
    clock,
    reopens: false,
    open(options = {}) {
      const engine = openEngine({
        driver: objectDriver(objectStorage()),
        space: spaceId(identityFromSeed(new Uint8Array(32).fill(1)).did),
        storeClock: clock,
        random: seededRandom(7),
        ...options,
      });
      opened.push(engine);
      return engine;
    },
    dispose: () => opened.forEach((engine) => engine.close()),
  };
}
