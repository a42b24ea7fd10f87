import { describe, expect, test } from "vitest";
import {
  ACL_DOC,
  SPACE_SCOPE_KEY,
  WATERMARK_DOC,
  type AcceptedCommit,
  type DocId,
  type HolderId,
  type JsonValue,
  type Principal,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { DirectRequest, ServedSpace } from "../../src/index.js";
import { createTestServer, TEST_HOLDER, type TestServer } from "../../src/testing/index.js";
import { doc, seq, setOp } from "./support.js";

interface Home {
  readonly t: TestServer;
  readonly space: SpaceId;
  readonly served: ServedSpace;
  /** May write. */
  readonly cy: Principal;
  /** May read alone. */
  readonly ben: Principal;
  write(name: string, value: JsonValue): Promise<Seq>;
  read(name: string): JsonValue | undefined;
}

async function home(): Promise<Home> {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const cy = t.identity("cy").did;
  const space = await t.space("home", ana, { [cy]: "WRITE", "*": "READ" });
  const served = t.server.space(space);
  served.engine.lease.acquire(TEST_HOLDER, 15_000);
  return {
    t,
    space,
    served,
    cy,
    ben: t.identity("ben").did,
    async write(name, value) {
      const answer = await ana.commit(space, { ops: [setOp(name, value)] });
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.result.seq;
    },
    read: (name) => served.engine.read(doc(name), SPACE_SCOPE_KEY).value,
  };
}

/** Sets `x` for somebody, having read it at `at`. */
function asked(principal: Principal, value: JsonValue, at?: Seq): DirectRequest {
  const reads =
    at === undefined ? [] : [{ id: doc("x"), path: [], seq: at, kind: "value" as const }];
  const changes = [{ id: doc("x"), scopeKey: SPACE_SCOPE_KEY, op: { op: "set" as const, value } }];
  return { principal, reads, changes, derivedThrough: seq(0) };
}

describe("a direct commit", () => {
  test("[ME-A27] is the live holder's, derived, and attributed to whom it is for", async () => {
    const w = await home();
    const told: AcceptedCommit[] = [];
    const feed = w.served.feed(w.served.engine.head(), (commit) => void told.push(commit));
    const verdict = w.served.commitDirect(TEST_HOLDER, asked(w.cy, 1));
    expect(verdict).toMatchObject({ ok: true, seq: 2 });
    expect(told).toMatchObject([{ seq: 2, class: "derived", holder: TEST_HOLDER }]);
    const [revision] = w.served.engine.history(doc("x"), SPACE_SCOPE_KEY);
    expect(revision).toMatchObject({ seq: 2, attribution: { user: w.cy } });
    const rival = w.served.commitDirect("server:two" as HolderId, asked(w.cy, 2));
    expect(rival).toMatchObject({ ok: false, error: { code: "lease" } });
    await w.t.clock.advance(15_000);
    expect(w.served.commitDirect(TEST_HOLDER, asked(w.cy, 3))).toMatchObject({
      ok: false,
      error: { code: "lease" },
    });
    expect(w.read("x")).toBe(1);
    feed.close();
    await w.t.stop();
  });

  test("[ME-A27] is told when it is released, where it was held", async () => {
    const w = await home();
    const told: AcceptedCommit[] = [];
    const feed = w.served.feed(w.served.engine.head(), (commit) => void told.push(commit));
    const verdict = w.served.commitDirect(TEST_HOLDER, asked(w.cy, 1), { hold: true });
    expect([w.read("x"), told.length]).toEqual([1, 0]);
    if (verdict.ok) verdict.release();
    expect(told).toHaveLength(1);
    feed.close();
    await w.t.stop();
  });

  test("[ME-A28] is refused to whom the list denies writing, as their own commit would be", async () => {
    const w = await home();
    const denial = {
      code: "unauthorized",
      details: { permanentEvidence: true, aclRevision: 1 },
    };
    expect(w.served.checkWrite(w.ben)).toMatchObject(denial);
    expect(w.served.checkWrite(w.cy)).toBeUndefined();
    expect(w.served.commitDirect(TEST_HOLDER, asked(w.ben, 1))).toMatchObject({
      ok: false,
      error: denial,
    });
    expect([w.read("x"), w.served.engine.head()]).toEqual([undefined, 1]);
    await w.t.stop();
  });

  test("[ME-A28] is refused where something it read has changed since, naming both seqs", async () => {
    const w = await home();
    const at = await w.write("x", 1);
    await w.write("x", 2);
    expect(w.served.commitDirect(TEST_HOLDER, asked(w.cy, 3, at))).toMatchObject({
      ok: false,
      error: {
        code: "conflict",
        details: { conflicts: [{ id: doc("x"), readSeq: at, conflictingSeq: at + 1 }] },
      },
    });
    expect(w.read("x")).toBe(2);
    expect(w.served.commitDirect(TEST_HOLDER, asked(w.cy, 3, (at + 1) as Seq))).toMatchObject({
      ok: true,
    });
    expect(w.read("x")).toBe(3);
    await w.t.stop();
  });

  test.each([
    [ACL_DOC, "unauthorized"],
    [WATERMARK_DOC, "protocol"],
    ["sys:attention" as DocId, "protocol"],
    ["stream:s" as DocId, "protocol"],
  ])("[ME-A28] writes nothing of the server's own: %s", async (id, code) => {
    const w = await home();
    const op = { op: "set", value: { "*": "OWNER" } } as const;
    const request = { ...asked(w.cy, 1), changes: [{ id, scopeKey: SPACE_SCOPE_KEY, op }] };
    expect(w.served.commitDirect(TEST_HOLDER, request)).toMatchObject({ error: { code } });
    expect(w.served.engine.head()).toBe(1);
    await w.t.stop();
  });

  test("[ME-A29] of a cause that was committed before is answered with that seq, whatever stands now", async () => {
    const w = await home();
    const cause = { of: "move 1", body: { to: 1 } };
    const first = w.served.commitDirect(TEST_HOLDER, { ...asked(w.cy, 1), cause });
    await w.write("x", 7);
    const again = w.served.commitDirect(TEST_HOLDER, { ...asked(w.cy, 1), cause });
    expect([first, again]).toMatchObject([
      { ok: true, seq: 2, commit: { seq: 2 } },
      { ok: true, seq: 2, commit: undefined },
    ]);
    expect(w.read("x")).toBe(7);
    await w.t.stop();
  });

  test("[ME-A29] under the cause of something else is refused, and a cause is its principal's own", async () => {
    const w = await home();
    const ana = w.t.identity("ana").did;
    const cause = { of: "move 1", body: { to: 1 } };
    w.served.commitDirect(TEST_HOLDER, { ...asked(w.cy, 1), cause });
    const other = { ...asked(w.cy, 2), cause: { ...cause, body: { to: 2 } } };
    expect(w.served.commitDirect(TEST_HOLDER, other)).toMatchObject({
      ok: false,
      error: { code: "protocol", details: { path: ["cause"] } },
    });
    expect(w.read("x")).toBe(1);
    expect(w.served.commitDirect(TEST_HOLDER, { ...asked(ana, 3), cause })).toMatchObject({
      ok: true,
      commit: { seq: 3 },
    });
    await w.t.stop();
  });
});
