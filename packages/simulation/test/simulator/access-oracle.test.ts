import {
  ACL_DOC,
  type AcceptedCommit,
  type DocId,
  type EventId,
  type HolderId,
  type Principal,
  type Seq,
  type SessionId,
  SPACE_SCOPE_KEY,
  type StreamEntry,
} from "@tidemark/protocol";
import { describe, expect, test } from "vitest";
import { ACCESS_CHANGES, type Level } from "../../src/simulator/access-changes.js";
import { AccessOracle } from "../../src/simulator/access-oracle.js";
import type { SeenEntry } from "../../src/simulator/sends.js";

type Levels = Readonly<Record<string, Level>>;

const ALICE_AND_BOB: Levels = { alice: "OWNER", bob: "WRITE", "*": "READ" };
const HOLDER = "holder" as HolderId;
const seq = (at: number): Seq => at as Seq;

/** The number of the payload that asks for just this. */
function numberOf(handler: string, ...wanted: readonly object[]): number {
  const choices = ACCESS_CHANGES[handler] ?? [];
  return choices.findIndex((asked) => JSON.stringify(asked) === JSON.stringify(wanted));
}

const BOB_OWNS = numberOf("invite", { kind: "grant", who: "bob", level: "OWNER" });
const WITHOUT_ALICE = numberOf("expel", { kind: "revoke", who: "alice" });

function fired(user: string, handler: string, n: number, at = 2): SeenEntry {
  const firedAt = { user: user as Principal, session: "s1" as SessionId };
  const place = { stream: "stream:s" as DocId, seq: seq(at), index: 0 };
  const entry = { ...place, eventId: "e" as EventId, payload: null, firedAt, appendedAt: 0 };
  return {
    entry: entry as StreamEntry,
    handler,
    piece: "piece:p" as DocId,
    payload: { k: "k", n },
  };
}

/** A table that begins with a list of its own, and what is said of the commits that follow. */
class Table {
  readonly said: string[] = [];
  readonly access = new AccessOracle(
    (name) => name,
    (_rule, what) => this.said.push(what),
  );
  #list: Levels;
  #head = 0;

  constructor(list: Levels = ALICE_AND_BOB) {
    this.#list = list;
    this.add({ principal: "alice" as Principal, changes: list });
  }

  add(
    { changes, ...rest }: Partial<Omit<AcceptedCommit, "changes">> & { changes?: Levels },
    seen?: SeenEntry,
  ): AcceptedCommit {
    if (changes !== undefined) this.#list = changes;
    const op = { op: "set", value: this.#list } as const;
    const commit = {
      seq: seq((this.#head += 1)),
      class: "authored",
      at: 0,
      changes: changes === undefined ? [] : [{ id: ACL_DOC, scopeKey: SPACE_SCOPE_KEY, op }],
      appends: [],
      marks: [],
      frontiers: [],
      ...rest,
    } as unknown as AcceptedCommit;
    this.access.take(commit, this.#list, seen);
    return commit;
  }

  /** What an event asked for lands. */
  land(seen: SeenEntry, list: Levels, by = seen.entry.firedAt): AcceptedCommit {
    const right = `event-consequence:${seen.entry.eventId}` as const;
    const { user, session } = by as { user: Principal; session: SessionId };
    return this.add(
      { changes: list, principal: user, session, holder: HOLDER, capabilityRef: right },
      seen,
    );
  }

  end(seen: SeenEntry, status?: string): void {
    this.access.closing(HOLDER, seq(this.#head));
    this.access.judgeEnd(this.add({ class: "derived", holder: HOLDER }), seen, status);
  }
}

const bobOwns: Levels = { ...ALICE_AND_BOB, bob: "OWNER" };

describe("[SI-S8] who made a commit", () => {
  const entry = fired("bob", "inc", 0).entry;
  const cases: readonly (readonly [string, string, Partial<AcceptedCommit>, RegExp | undefined])[] =
    [
      ["a writer", "bob", { appends: [entry] }, undefined],
      ["a reader", "carol", { appends: [entry] }, /is by carol, who is READ/u],
    ];
  for (const [who, principal, commit, wrong] of cases) {
    test(`${who} appends`, () => {
      const table = new Table();
      const { changes: _none, ...rest } = commit;
      table.add({ ...rest, principal: principal as Principal });
      if (wrong === undefined) expect(table.said).toEqual([]);
      else expect(table.said).toEqual([expect.stringMatching(wrong)]);
    });
  }

  test("a list is changed by an owner alone, by no wave, and keeps an owner", () => {
    const table = new Table();
    table.add({ principal: "alice" as Principal, changes: bobOwns });
    expect(table.said).toEqual([]);
    table.add({ principal: "carol" as Principal, changes: ALICE_AND_BOB });
    table.add({ class: "derived", changes: bobOwns });
    table.add({ principal: "alice" as Principal, changes: { "*": "READ" } });
    expect(table.said).toEqual([
      expect.stringContaining("for carol, who is READ"),
      expect.stringContaining("a derived commit, 4, writes the list"),
      expect.stringContaining("leaves nobody who owns the space"),
    ]);
  });
});

describe("[SI-S8] what an event asked of the list", () => {
  test("lands once, as it asked, and the event succeeds", () => {
    const table = new Table();
    const seen = fired("alice", "invite", BOB_OWNS);
    table.land(seen, bobOwns);
    table.end(seen);
    expect(table.said).toEqual([]);
    expect(table.access.changed).toBe(1);
    table.add({ principal: "alice" as Principal, changes: ALICE_AND_BOB });
    table.land(seen, bobOwns);
    expect(table.said).toEqual([expect.stringContaining("changes the list again")]);
  });

  test("lands for nobody else, without a right, or otherwise than asked", () => {
    const table = new Table();
    const seen = fired("alice", "invite", BOB_OWNS);
    table.land(seen, { ...bobOwns, carol: "WRITE" });
    expect(table.said).toEqual([expect.stringContaining("leaves")]);
    const other = new Table();
    other.land(fired("bob", "invite", BOB_OWNS), bobOwns);
    expect(other.said).toEqual([expect.stringContaining("bob does not own the space")]);
    const forged = new Table();
    forged.land(seen, bobOwns, { user: "alice" as Principal, session: "s2" as SessionId });
    expect(forged.said).toEqual([expect.stringContaining("acts as alice s2")]);
    const ended = new Table();
    ended.land({ ...seen, ended: seq(2) }, bobOwns);
    expect(ended.said).toEqual([expect.stringContaining("has no event that waits")]);
  });

  test("was there already, or success is a lie", () => {
    const table = new Table(bobOwns);
    table.end(fired("alice", "invite", BOB_OWNS));
    expect(table.said).toEqual([]);
    const other = new Table();
    other.end(fired("alice", "invite", BOB_OWNS));
    expect(other.said).toEqual([expect.stringContaining("was never done")]);
  });

  test("is refused to whoever owns nothing, and where nobody would own the space", () => {
    const table = new Table();
    table.end(fired("bob", "invite", BOB_OWNS, 1), "refused");
    table.end(fired("alice", "expel", WITHOUT_ALICE, 1), "refused");
    expect(table.said).toEqual([]);
    expect(table.access.refused).toBe(2);
    table.end(fired("alice", "invite", BOB_OWNS, 1), "refused");
    table.end(fired("bob", "inc", 0, 1), "refused");
    expect(table.said).toEqual([
      expect.stringContaining("the right to"),
      expect.stringContaining("asked for nothing"),
    ]);
  });
});

test("[SI-S8] who may read is asked of a stretch of the table", () => {
  const table = new Table({ alice: "OWNER", bob: "READ" });
  table.add({ principal: "alice" as Principal, changes: { alice: "OWNER" } });
  expect(table.access.mayRead("bob", seq(1), seq(1))).toBe(true);
  expect(table.access.mayRead("bob", seq(2), seq(2))).toBe(false);
  table.add({ principal: "alice" as Principal, changes: { alice: "OWNER", "*": "READ" } });
  expect(table.access.mayRead("bob", seq(2), seq(3))).toBe(true);
});
