import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openBetterSqlite3, type SqlDriver } from "@tidemark/memory-engine";
import { cell, computed, pattern } from "@tidemark/runtime";
import { nodeIdFor, type DocId, type InstanceKey, type JsonValue } from "@tidemark/protocol";
import { chain, lab } from "./support/patterns.js";
import { createHost, createWorld, nodeKey, type World } from "./support/world.js";

const WIDTH = 1_000;
const PIECES = 10;

const wide = pattern({
  id: "wide",
  version: "1",
  build: () => {
    const result: Record<string, ReturnType<typeof computed>> = {};
    for (let at = 0; at < WIDTH; at += 1) {
      const input = cell(`in${at}`, z.number(), { default: 0 });
      result[`out${at}`] = computed(`out${at}`, () => {
        lab.ran("wide");
        return input.get() + at;
      });
    }
    return result;
  },
});

let dir = "";
beforeEach(() => {
  lab.runs.clear();
  dir = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

async function restart(
  w: World,
  seed: number,
  demanded: readonly InstanceKey[] = [],
): Promise<ReturnType<typeof createHost>> {
  const host = createHost(w.t, { patterns: [wide, chain] }, [], seed);
  host.start();
  if (demanded.length > 0) host.warm(w.space, demanded);
  await w.settle(1_000);
  return host;
}

async function stop(w: World, host: ReturnType<typeof createHost>): Promise<void> {
  const stopping = host.stop();
  await w.t.clock.advance(10_000);
  await stopping;
}

function store(w: World): SqlDriver {
  return openBetterSqlite3({ path: `${dir}/${w.space.replaceAll(":", "_")}.sqlite` });
}

/** Rows of the basis index. */
function basis(w: World): number {
  const db = store(w);
  const row = db.prepare("SELECT count(*) AS n FROM scheduler_basis").get() as { n: number };
  db.close();
  return row.n;
}

function emptyBasis(w: World): void {
  const db = store(w);
  db.prepare("DELETE FROM scheduler_basis").run();
  db.close();
}

describe("recovery by the basis index alone", () => {
  test("[EX-R2] of 10,000 demanded nodes the dependents of three changed inputs run; with the index emptied, all do, to the same store", async () => {
    const w = await createWorld({ patterns: [wide], dir });
    const ids: DocId[] = [];
    for (let at = 0; at < PIECES; at += 1) ids.push(await w.create(wide, `p${at}`));
    // A warm request demands without a session: the test is about the loop, not about frames.
    const demanded = ids.flatMap((id) =>
      Array.from({ length: WIDTH }, (_, at) => nodeKey(id, `out${at}`)),
    );
    w.host.warm(w.space, demanded);
    await w.settle(2_000);
    expect(lab.runs.get("wide")).toBe(WIDTH * PIECES);
    await stop(w, w.host);

    lab.runs.clear();
    for (const [at, id] of ids.slice(0, 3).entries()) await w.write(w.owner, id, `in${at}`, 500);
    const second = await restart(w, 21, demanded);
    expect(lab.runs.get("wide")).toBe(3);
    expect(w.value(ids[2] as DocId, "out2")).toBe(502);
    const rows = basis(w);
    const stored = snapshot(w, ids);
    await stop(w, second);

    lab.runs.clear();
    emptyBasis(w);
    const third = await restart(w, 22, demanded);
    expect(lab.runs.get("wide")).toBe(WIDTH * PIECES);
    expect(snapshot(w, ids)).toEqual(stored);
    expect(basis(w)).toBe(rows);
    await stop(w, third);
    await w.t.stop();
  }, 120_000);

  test("[EX-R3] a cut wave's nodes are not vouched for: what it had not derived is derived after a restart", async () => {
    const w = await createWorld({ patterns: [chain], dir });
    const piece = await w.create(chain);
    await w.open(w.owner, piece, ["z"]);
    await w.settle();
    w.t.gates.hold("wave:before-commit");
    await w.write(w.owner, piece, "n", 1);
    // The process dies with its wave unwritten: nothing of it is stored, its rows neither.
    await stop(w, w.host);
    expect(w.value(piece, "z")).toBe(11);
    const second = await restart(w, 31);
    expect(w.value(piece, "z")).toBe(12);
    expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
    await stop(w, second);
    w.t.gates.open();
    await w.t.stop();
  });

  for (const pruned of [false, true]) {
    const what = pruned ? "that history has lost in part" : "longer than a page";
    test(`[EX-M5] a backlog ${what} is covered whole, without another input`, async () => {
      const w = await createWorld({ patterns: [chain], started: false });
      const piece = await w.create(chain);
      await w.open(w.owner, piece, ["z"]);
      const last = pruned ? 20 : 1_100;
      for (let n = 1; n <= last; n += 1) await w.write(w.owner, piece, "n", n);
      if (pruned) w.t.engines.get(w.space)?.prune({ pruneAfterMs: 0, pruneAfterCommits: 2 });
      w.host.start();
      await w.settle();
      expect(w.value(piece, "z")).toBe(last + 11);
      expect(w.watermark()).toBeGreaterThanOrEqual(w.head() - 1);
      expect(w.host.spaceStats(w.space).lease.lost).toBe(0);
      expect(w.reports.filter(({ kind }) => kind === "tenure-failed")).toEqual([]);
      await w.stop();
    });
  }

  test("[EX-R4] basis rows are overwritten in place: they do not grow with traffic", async () => {
    const w = await createWorld({ patterns: [chain], dir });
    const piece = await w.create(chain);
    await w.open(w.owner, piece, ["x", "z", "y"]);
    await w.settle();
    const rows = basis(w);
    for (let n = 1; n <= 20; n += 1) {
      await w.write(w.owner, piece, "n", n);
      await w.settle(50);
    }
    expect(basis(w)).toBe(rows);
    await w.stop();
  });
});

function snapshot(w: World, ids: readonly DocId[]): readonly (JsonValue | undefined)[] {
  const engine = w.t.server.space(w.space).engine;
  return ids.flatMap((id) =>
    Array.from(
      { length: WIDTH },
      (_, at) => engine.read(nodeIdFor(id, `out${at}`), "space" as never).value,
    ),
  );
}
