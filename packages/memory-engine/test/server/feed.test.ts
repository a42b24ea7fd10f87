import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  SPACE_SCOPE_KEY,
  StorageError,
  type AcceptedCommit,
  type SpaceId,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import type { AdmissionNotice } from "../../src/index.js";
import { CommitFeed } from "../../src/server/feed/commit-feed.js";
import { createTestServer, failingStore } from "../../src/testing/index.js";
import { derive, doc, event, keyOf, seq, setOp, STREAM } from "./support.js";

const dirs: string[] = [];

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-feed-"));
  dirs.push(dir);
  return dir;
}

afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test("[ME-F1] the feed tells every accepted commit once, in seq order, whatever made it", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const space = t.server.space(home);
  const fed: string[] = [];
  await ana.commit(home, { ops: [setOp("a", 1)] });
  const feed = space.feed(seq(1), (commit) => fed.push(`${commit.seq}${commit.class[0]}`));
  expect(fed).toEqual(["2a"]);
  await ana.append(home, STREAM, { eventId: event("e1") });
  derive(t, home, { watermark: seq(3) });
  const op = { op: "set" as const, value: 1 };
  space.commitSystem(() => [{ id: doc("b"), scopeKey: SPACE_SCOPE_KEY, op }]);
  expect(fed).toEqual(["2a", "3a", "4d", "5s"]);
  feed.close();
  await ana.commit(home, { ops: [setOp("a", 2)] });
  expect(fed).toHaveLength(4);
  await t.stop();
});

test("[ME-F2] a subscriber that commits from within its callback keeps the order for the others", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const space = t.server.space(home);
  const orders: number[][] = [[], []];
  space.feed(seq(1), (commit) => {
    orders[0]?.push(commit.seq);
    if (commit.class === "authored") derive(t, home, { watermark: commit.seq });
  });
  space.feed(seq(1), (commit) => orders[1]?.push(commit.seq));
  await ana.commit(home, { ops: [setOp("a", 1)] });
  await ana.commit(home, { ops: [setOp("a", 2)] });
  expect(orders).toEqual([
    [2, 3, 4, 5],
    [2, 3, 4, 5],
  ]);
  await t.stop();
});

test("[ME-F2] a subscriber that throws keeps nobody else from being told", async () => {
  const errors: string[] = [];
  const t = createTestServer({ log: (level, message) => void errors.push(`${level} ${message}`) });
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const fed: number[] = [];
  t.server.space(home).feed(seq(1), () => {
    throw new Error("broken");
  });
  t.server.space(home).feed(seq(1), (commit) => fed.push(commit.seq));
  await ana.commit(home, { ops: [setOp("a", 1)] });
  expect(fed).toEqual([2]);
  expect(errors).toEqual(["error a feed callback failed"]);
  await t.stop();
});

test("[ME-F3] commits of another process are found on a timer and told in their place (R19)", async () => {
  const dir = folder();
  const clock = new VirtualClock();
  const one = createTestServer({ clock, dir });
  const ana = await one.connected("ana");
  const home = await one.space("home", ana);
  await ana.call("space.open", { space: home, watches: [{ id: "w", root: { id: doc("a") } }] });
  const fed: number[] = [];
  one.server.space(home).feed(seq(0), (commit) => fed.push(commit.seq));

  const two = createTestServer({ clock, dir, serverId: "second" });
  two.server.space(home);
  const ben = await two.connected("ana", "ana2");
  expect(await ben.commit(home, { ops: [setOp("a", "theirs")] })).toMatchObject({
    result: { seq: 2 },
  });
  expect(fed).toEqual([1]);
  await clock.advance(250);
  expect(fed).toEqual([1, 2]);
  expect(ana.held(home, keyOf("a"))?.value).toBe("theirs");

  await ben.commit(home, { ops: [setOp("a", "again")] });
  expect(one.server.space(home).refresh()).toBe(true);
  expect(one.server.space(home).refresh()).toBe(false);
  await ben.commit(home, { ops: [setOp("a", "third")] });
  expect(await ana.commit(home, { ops: [setOp("b", 1)] })).toMatchObject({ result: { seq: 5 } });
  expect(fed).toEqual([1, 2, 3, 4, 5]);
  await one.stop();
  await two.stop();
});

test("[ME-F3] an access list that another process changed counts at once", async () => {
  const dir = folder();
  const clock = new VirtualClock();
  const [one, two] = [createTestServer({ clock, dir }), createTestServer({ clock, dir })];
  const ana = await one.connected("ana");
  const home = await one.space("home", ana);
  two.server.space(home);
  const [ben, elsewhere] = [await one.connected("ben"), await two.connected("ana", "ana2")];
  expect((await ben.call("space.open", { space: home, watches: [] })).ok).toBe(false);
  const acl = { [ana.identity.did]: "OWNER", [ben.identity.did]: "WRITE" };
  await elsewhere.commit(home, { ops: [{ op: "set", id: "sys:acl" as never, value: acl }] });
  expect((await ben.call("space.open", { space: home, watches: [] })).ok).toBe(true);
  expect((await ben.commit(home, { ops: [setOp("a", 1)] })).ok).toBe(true);
  await one.stop();
  await two.stop();
});

describe("[ME-F9] a transaction stands, and its maker was told that it failed", () => {
  const failures = { afterwards: false };
  const late = (): boolean => {
    const strikes = failures.afterwards;
    failures.afterwards = false;
    return strikes;
  };

  async function world() {
    const t = createTestServer({ wrap: failingStore({ afterwards: late }) });
    const ana = await t.connected("ana");
    const home = await t.space("home", ana);
    await ana.call("space.open", { space: home, watches: [{ id: "w", root: { id: doc("a") } }] });
    const served = t.server.space(home);
    const fed: string[] = [];
    served.feed(served.engine.head(), ({ seq: at, class: kind }) => fed.push(`${at}${kind[0]}`));
    const notices: string[] = [];
    t.server.onAdmission(({ reason, commit }) => notices.push(`${reason} ${commit?.seq}`));
    return { t, ana, home, served, fed, notices };
  }

  test("an append and an edit: whoever serves hears of them, and a resend finds its verdict", async () => {
    const { t, ana, home, fed, notices } = await world();
    failures.afterwards = true;
    const append = { localSeq: 41, stream: STREAM, entry: { eventId: event("e1"), payload: null } };
    const body = { space: home, append: append as never };
    expect((await ana.call("append", body)).ok).toBe(false);
    expect(fed).toEqual(["2a"]);
    expect(notices).toEqual(["commit 2"]);
    expect(await ana.call("append", body)).toMatchObject({ ok: true, result: { seq: 2 } });
    expect(fed).toEqual(["2a"]);

    failures.afterwards = true;
    expect((await ana.commit(home, { ops: [setOp("a", 1)] })).ok).toBe(false);
    expect(fed).toEqual(["2a", "3a"]);
    expect(ana.held(home, keyOf("a"))?.value).toBe(1);
    await t.stop();
  });

  test("[ME-P9] the sender is told how the event ends, in the frame with its consequence, before it is sent again", async () => {
    const { t, ana, home } = await world();
    failures.afterwards = true;
    expect((await ana.append(home, STREAM, { eventId: event("e1") })).ok).toBe(false);
    const change = {
      id: doc("a"),
      scopeKey: SPACE_SCOPE_KEY,
      op: { op: "set", value: 1 },
    } as const;
    const mark = { stream: STREAM, seq: seq(2), index: 0, eventId: event("e1") };
    derive(t, home, { changes: [change], marks: [mark] });
    await t.run();
    expect(ana.frames(home).at(-1)).toMatchObject({
      rows: [{ id: doc("a"), value: 1 }],
      entries: [{ eventId: "e1", consequenced: true }],
    });
    await t.stop();
  });

  test("a wave and a commit of the system: those who watch are told", async () => {
    const { t, ana, home, served, fed, notices } = await world();
    failures.afterwards = true;
    const op = { op: "set", value: "derived" } as const;
    const change = { id: doc("a"), scopeKey: SPACE_SCOPE_KEY, op };
    expect(derive(t, home, { changes: [change] }).ok).toBe(false);
    expect(fed).toEqual(["2d"]);
    await t.clock.advance(1);
    expect(ana.held(home, keyOf("a"))?.value).toBe("derived");

    failures.afterwards = true;
    expect(() => served.commitSystem(() => [{ ...change, op: { op: "set", value: 1 } }])).toThrow();
    expect(fed).toEqual(["2d", "3s"]);
    expect(notices).toEqual([]);
    await t.stop();
  });

  test("where the look for it fails too, the next refresh looks", async () => {
    const { t, ana, home, served, fed, notices } = await world();
    const { commitsSince } = served.engine;
    served.engine.commitsSince = () => {
      throw new StorageError("not now", { kind: "io" });
    };
    failures.afterwards = true;
    expect((await ana.commit(home, { ops: [setOp("a", 1)] })).ok).toBe(false);
    expect(fed).toEqual([]);
    served.engine.commitsSince = commitsSince;
    expect(served.refresh()).toBe(true);
    expect(fed).toEqual(["2a"]);
    expect(notices).toEqual(["commit 2"]);
    await t.stop();
  });
});

test("[ME-F4] a space that nobody has open or follows holds no timer and can be closed", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  expect(t.clock.pendingTimers()).toBe(0);
  const feed = t.server.space(home).feed(seq(0), () => undefined);
  expect(t.clock.pendingTimers()).toBe(1);
  expect(t.server.closeIdle(home)).toBe(false);
  feed.close();
  expect(t.clock.pendingTimers()).toBe(0);
  expect(t.server.closeIdle(home)).toBe(true);
  expect(t.server.stats().openSpaces).toBe(0);
  await t.stop();
});

test("[ME-F8] a quiet follower keeps the store open, is told what this process admits, and sets no timer", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const told: number[] = [];
  const quiet = t.server
    .space(home)
    .feed(seq(1), (one) => void told.push(one.seq), { quiet: true });
  expect(t.clock.pendingTimers()).toBe(0);
  expect(t.server.closeIdle(home)).toBe(false);
  await ana.commit(home, { ops: [setOp("a", 1)] });
  expect(told).toEqual([2]);
  const loud = t.server.space(home).feed(seq(2), () => undefined);
  expect(t.clock.pendingTimers()).toBe(1);
  await t.clock.advance(1_000);
  loud.close();
  expect(t.clock.pendingTimers()).toBe(0);
  quiet.close();
  quiet.close();
  expect(t.server.closeIdle(home)).toBe(true);
  await t.stop();
});

test("[ME-F5] the host is told of authored admissions, of sessions and of warm requests", async () => {
  const t = createTestServer();
  const notices: string[] = [];
  const listen = (n: AdmissionNotice): void =>
    void notices.push(`${n.reason} ${n.commit?.seq ?? "-"}`);
  const subscription = t.server.onAdmission(listen);
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  await ana.call("space.open", { space: home, watches: [] });
  await ana.append(home, STREAM, { eventId: event("e1") });
  derive(t, home, { watermark: seq(2) });
  await ana.call("space.close", { space: home });
  t.server.warm({ space: home, commit: undefined });
  expect(notices).toEqual(["commit 1", "session -", "commit 2", "session -", "warm -"]);
  subscription.close();
  await ana.commit(home, { ops: [setOp("a", 1)] });
  expect(notices).toHaveLength(5);
  await t.stop();
});

test("[ME-F6] a commit handed in ahead of its place waits for what the table holds before it", () => {
  const table = Array.from({ length: 5 }, (_, at) => ({ seq: at + 1 }) as AcceptedCommit);
  const source = {
    commitsSince: (after: number, limit: number) =>
      table.filter((commit) => commit.seq > after).slice(0, limit),
  };
  const feed = new CommitFeed(source, seq(0), () => undefined);
  const fed: number[] = [];
  feed.subscribe(seq(0), (commit) => fed.push(commit.seq));
  feed.publish(table.slice(2, 3));
  feed.publish(table.slice(1, 3));
  feed.hold();
  feed.publish(table.slice(4));
  expect(fed).toEqual([1, 2, 3, 4, 5].slice(0, fed.length));
  feed.release();
  expect(fed).toEqual([1, 2, 3, 4, 5]);
  expect(feed.position).toBe(5);
});

test("[ME-F7] what was acknowledged is there after a restart, with the same history", async () => {
  const dir = folder();
  const first = createTestServer({ dir });
  const ana = await first.connected("ana");
  const home: SpaceId = await first.space("home", ana);
  const appended = await ana.append(home, STREAM, { eventId: event("e1") }, 5 as never);
  const history = first.server.space(home).engine.historyId;
  await first.stop();
  const second = createTestServer({ dir });
  expect(second.server.space(home).engine.historyId).toBe(history);
  const again = await second.connected("ana");
  expect(await again.append(home, STREAM, { eventId: event("e1") }, 5 as never)).toEqual(appended);
  expect(second.server.space(home).engine.head()).toBe(2);
  await second.stop();
});
