import { test } from "vitest";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { seededRandom, systemClock, receiptIdFor, type SpaceId, type DocId, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { openBetterSqlite3, openEngine } from "../src/index.js";
const p = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK" as never;
test("growth", async () => {
  const dir = mkdtempSync("/tmp/tmb-");
  const clock = new VirtualClock();
  const e = openEngine({ driver: openBetterSqlite3({ path: `${dir}/e.db` }), space: p as SpaceId, storeClock: clock, random: seededRandom(1) });
  const stream = "stream:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz" as DocId;
  let n = 0;
  const t0 = performance.now();
  const round = (count: number) => {
    for (let i = 0; i < count; i++, n++) {
      const id = ("01ARZ3NDEKTSV4RRFF" + String(n).padStart(8, "0")) as never;
      const a = e.transact((tx) => {
        tx.duplicate(stream, id);
        tx.append({ stream, eventId: id, payload: { by: 1 }, firedAt: { user: p, session: "s1" as never, clientSeq: n } });
        tx.remember({ principal: p, session: "s1" as never, openNonce: "n1", localSeq: n as never }, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq", 0);
        return tx.commit({ class: "authored", principal: p, session: "s1" as never, localSeq: n as never });
      });
      e.transact((tx) => {
        tx.lease();
        tx.write({ id: "node:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz" as DocId, scopeKey: SPACE_SCOPE_KEY, op: { op: "patch", value: [{ op: "increment", path: [], value: 1 }] } });
        tx.write({ id: receiptIdFor(id, stream), scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: {} } });
        tx.mark({ stream, seq: a.seq, index: 0, eventId: id });
        tx.frontier(stream, a.seq);
        tx.watermark(a.seq);
        tx.basis({ action: "counter/double@piece:xyz" as never, scopeKey: SPACE_SCOPE_KEY, reads: [{ space: p as SpaceId, id: "node:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz" as DocId, scopeKey: SPACE_SCOPE_KEY, seq: "wave" }] });
        return tx.commit({ class: "derived", holder: "h" as never, consequenceOf: [id] });
      });
    }
  };
  const up = () => { const t = performance.now(); let c = 0; while (e.compact().more) c++; while (e.prune().more) c++; e.checkpoint("truncate"); return (performance.now() - t) | 0; };
  const sizes: number[] = [];
  for (let r = 0; r < 6; r++) { round(5000); await clock.advance(11 * 60000); const ms = up(); sizes.push(statSync(`${dir}/e.db`).size); console.log(r, sizes[r], r ? (sizes[r]! - sizes[r - 1]!) / 5000 : 0, "upkeep ms", ms); }
  console.log("events/s", n / ((performance.now() - t0) / 1000));
  e.close();
  rmSync(dir, { recursive: true });
}, 120000);
test("stale", () => {
  const e = openEngine({ driver: openBetterSqlite3({ path: ":memory:" }), space: p as SpaceId, storeClock: systemClock, random: seededRandom(1) });
  e.transact((tx) => { for (let i = 0; i < 1000; i++) tx.write({ id: `node:in${i}` as DocId, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: i } }); tx.commit({ class: "authored" }); });
  const t = performance.now();
  e.transact((tx) => { for (let i = 0; i < 10000; i++) tx.basis({ action: `pattern/node${i}@piece:abcdefghijklmnopqrstuvwxyz` as never, scopeKey: SPACE_SCOPE_KEY, reads: [0, 1, 2, 3].map((k) => ({ space: p as SpaceId, id: `node:in${(i + k) % 1000}` as DocId, scopeKey: SPACE_SCOPE_KEY, seq: 1 as never })) }); tx.commit({ class: "derived" }); });
  const w = performance.now() - t;
  e.transact((tx) => { for (let i = 0; i < 3; i++) tx.write({ id: `node:in${i}` as DocId, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: -1 } }); tx.commit({ class: "authored" }); });
  const s = performance.now(); const r = e.basis.stale(); console.log("basis write ms", w | 0, "stale ms", (performance.now() - s) | 0, r.length);
  e.close();
});
test("idle", () => {
  const dir = mkdtempSync("/tmp/tmb-");
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const all = [];
  for (let i = 0; i < 200; i++) { const e = openEngine({ driver: openBetterSqlite3({ path: `${dir}/${i}.db` }), space: p as SpaceId, storeClock: systemClock, random: seededRandom(1) }); e.transact((tx) => { tx.write({ id: "a" as DocId, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: 1 } }); tx.commit({ class: "authored" }); }); e.read("a" as DocId, SPACE_SCOPE_KEY); all.push(e); }
  console.log("MB per idle space", (process.memoryUsage().rss - before) / 200 / 1e6);
  all.forEach((e) => e.close()); rmSync(dir, { recursive: true });
});
test("text", () => {
  const dir = mkdtempSync("/tmp/tmb-");
  const e = openEngine({ driver: openBetterSqlite3({ path: `${dir}/e.db` }), space: p as SpaceId, storeClock: systemClock, random: seededRandom(1) });
  const id = "node:t" as DocId;
  e.transact((tx) => { tx.write({ id, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value: "x".repeat(100000) } }); tx.commit({ class: "authored" }); });
  const t = performance.now();
  for (let i = 0; i < 5000; i++) { e.transact((tx) => { tx.write({ id, scopeKey: SPACE_SCOPE_KEY, op: { op: "patch", value: [{ op: "splice", path: [], index: i, remove: 0, insert: "y" }] } }); tx.commit({ class: "authored" }); }); e.read(id, SPACE_SCOPE_KEY); }
  console.log("text patches/s", 5000 / ((performance.now() - t) / 1000)); e.close(); rmSync(dir, { recursive: true });
});
