import { describe, expect, test } from "vitest";
import {
  SPACE_SCOPE_KEY,
  type DocId,
  type EventId,
  type HolderId,
  type Seq,
} from "@tidemark/protocol";
import { createTestServer } from "@tidemark/memory-engine/testing";
import type { Contribution } from "../../src/wave/contribution.js";
import { DirectCommits } from "../../src/wave/direct.js";
import { planWave, type Intrusion, type PlanView } from "../../src/wave/plan.js";
import { planViewOf } from "../../src/wave/store-view.js";
import { at, contribution, seq } from "../support/contributions.js";

const read = (name: string, n: number) => ({
  key: at(name),
  path: [],
  kind: "value" as const,
  seq: seq(n),
});

/** A store over whose `x` these writes of somebody else's came, the direct commit among them. */
function view(...seqs: readonly number[]): PlanView {
  const list = seqs.map((n): Intrusion => ({
    seq: seq(n),
    op: { op: "set", value: n },
    authored: false,
  }));
  return {
    intrusions: (key, after) => (key === at("x") ? list.filter((one) => one.seq > after) : []),
    head: (key) => (key === at("x") ? seq(Math.max(0, ...seqs)) : seq(0)),
    read: () => ({ value: undefined, seq: seq(0) }),
  };
}

const sets = (name: string) => ({ key: at(name), op: { op: "set", value: 7 } as const });
const seen = { observed: new Map([[at("x"), seq(12)]]), reads: [read("x", 12)] };
const handling = {
  kind: "event-handler",
  delivery: {
    stream: "stream:s" as DocId,
    eventId: "e1" as EventId,
    end: { kind: "succeeded" },
    place: { seq: seq(9), index: 0 },
  },
} as const satisfies Partial<Contribution>;

describe("a wave that is open at a direct commit", () => {
  test("[EX-V8] what was sealed before it meets it as somebody else's write", () => {
    const derived = contribution({ writes: [sets("x"), sets("y")], reads: [read("x", 8)] });
    const handled = contribution({ ...handling, writes: [sets("x")], reads: [read("x", 8)] });
    const plan = planWave([derived, handled], view(12));
    expect(plan.fates.get(derived.id)).toEqual({ kind: "lands", writes: [sets("y")] });
    expect(plan.fates.get(handled.id)).toEqual({ kind: "requeued", reason: "raced" });
  });

  test("[EX-V8] what was sealed after it, and read what it wrote, has seen it", () => {
    const derived = contribution({ ...seen, writes: [sets("x"), sets("y")] });
    const handled = contribution({ ...handling, ...seen, writes: [sets("x")] });
    for (const one of [derived, handled]) {
      expect(planWave([one], view(12)).fates.get(one.id)).toEqual({
        kind: "lands",
        writes: one.writes,
      });
    }
  });

  test("[EX-V8] what has seen it lands on that very head: a later write withdraws the one and sends the other back", () => {
    const derived = contribution({ ...seen, writes: [sets("y")] });
    const handled = contribution({ ...handling, ...seen, writes: [sets("z")] });
    const blind = contribution({ writes: [sets("w")] });
    const plan = planWave([derived, handled, blind], view(12, 13));
    expect([derived, handled, blind].map(({ id }) => plan.fates.get(id))).toMatchObject([
      { kind: "withdrawn", reason: "raced" },
      { kind: "requeued", reason: "raced" },
      { kind: "lands" },
    ]);
  });
});

describe("direct commits", () => {
  test("[EX-V8] are seen by a run that read them where they stand, until the replica has them", () => {
    const direct = new DirectCommits();
    direct.add(at("x"), seq(12));
    expect(direct.seenBy([read("x", 12), read("y", 12)], seq(10))).toEqual(
      new Map([[at("x"), seq(12)]]),
    );
    expect(direct.seenBy([read("x", 11)], seq(10))).toBeUndefined();
    const foreign = { ...read("x", 12), space: "did:key:other" as never };
    expect(direct.seenBy([foreign], seq(10))).toBeUndefined();
    expect(direct.seenBy([read("x", 12)], seq(12))).toBeUndefined();
  });

  test("[EX-V8] are forgotten once nothing rests on less", () => {
    const direct = new DirectCommits();
    direct.add(at("x"), seq(12));
    direct.add(at("y"), seq(14));
    direct.forget(seq(13));
    expect([direct.has(seq(12)), direct.has(seq(14)), direct.isEmpty]).toEqual([
      false,
      true,
      false,
    ]);
    direct.forget(seq(14));
    expect(direct.isEmpty).toBe(true);
  });

  test("[EX-V8] are no commits of the tenure's own to the plan, and its waves' are", async () => {
    const t = createTestServer();
    const ana = await t.connected("ana");
    const space = await t.space("home", ana);
    const { engine } = t.server.space(space);
    const holder = "server:one" as HolderId;
    const id = "node:x" as DocId;
    for (const value of [1, 2]) {
      engine.transact((tx) => {
        tx.write({ id, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value } });
        tx.commit({ class: "derived", holder, derivedThrough: seq(1), consequenceOf: [] });
      });
    }
    const intrusions = (direct?: { has(n: Seq): boolean }) =>
      engine.transact((tx) =>
        planViewOf(tx, {
          holder,
          since: seq(1),
          ...(direct === undefined ? {} : { direct }),
        }).intrusions(at("x"), seq(1)),
      );
    expect(intrusions()).toEqual([]);
    expect(intrusions({ has: (n) => n === 2 })).toMatchObject([{ seq: 2, authored: false }]);
    await t.stop();
  });
});
