import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { openBetterSqlite3, openEngine, type Engine } from "../../src/index.js";
import { SPACE, type EngineHarness } from "../../src/testing/harness.js";

/** A folder of its own, gone after the test. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "tidemark-store-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function fileHarness(): EngineHarness {
  const folder = temporaryFolder();
  const harness = harnessOn(join(folder.path, "store.db"), true);
  return {
    ...harness,
    dispose: () => {
      harness.dispose();
      folder.remove();
    },
  };
}

export const memoryHarness = (): EngineHarness => harnessOn(":memory:", false);

function harnessOn(path: string, reopens: boolean): EngineHarness {
  const clock = new VirtualClock();
  const opened: Engine[] = [];
  return {
    clock,
    reopens,
    open: (options = {}) => {
      const engine = openEngine({
        driver: openBetterSqlite3({ path }),
        space: SPACE,
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
