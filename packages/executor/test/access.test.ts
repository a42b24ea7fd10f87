import { describe, expect, test } from "vitest";
import {
  ACL_DOC,
  SPACE_SCOPE_KEY,
  StorageError,
  type AcceptedCommit,
  type DocId,
  type Principal,
  type Seq,
} from "@tidemark/protocol";
import type { TestClient } from "@tidemark/memory-engine/testing";
import {
  action,
  cell,
  cellAt,
  computed,
  grantSpaceAccess,
  handler,
  pattern,
  revokeSpaceAccess,
  type AccessLevel,
} from "@tidemark/runtime";
import { z } from "zod";
import { createHost, createWorld, type World } from "./support/world.js";

/** How often each handler's body ran. */
const runs = new Map<string, number>();
const ran = (name: string): void => void runs.set(name, (runs.get(name) ?? 0) + 1);

const asked = z.object({
  who: z.string(),
  level: z.string().optional(),
  say: z.string().optional(),
});

const door = pattern({
  id: "door",
  version: "1",
  build: () => {
    const log = cell("log", z.array(z.string()), { default: [] });
    const notes = cell("notes", z.record(z.string(), z.string()), { default: {} });
    const length = computed("length", () => log.get().length);
    const share = handler("share", asked, ({ who, level = "WRITE", say = "shared" }) => {
      ran("share");
      log.append(say);
      if (level !== "NONE") grantSpaceAccess(who as Principal, level as AccessLevel);
    });
    const unshare = handler("unshare", asked, ({ who }) => {
      log.append("unshared");
      revokeSpaceAccess(who as Principal);
    });
    /** Reads what others write, so that it can lose a race. */
    const noted = handler("noted", asked, ({ who }) => {
      ran("noted");
      notes.key("last").set(`${notes.get()["last"] ?? ""}${log.get().length}`);
      grantSpaceAccess(who as Principal, "WRITE");
    });
    const pass = handler("pass", asked, (payload) => {
      ran("pass");
      log.append("passing");
      share.send({ ...payload, say: "first" });
      share.send({ ...payload, level: "NONE", say: "second" });
      share.send({ ...payload, level: "READ", say: "third" });
      say.send("beside");
    });
    const say = handler("say", z.string(), (word) => {
      log.append(word);
    });
    const forge = action("forge", () => {
      ran("forge");
      log.append("forged");
      cellAt({ id: ACL_DOC }).set({ "*": "OWNER" });
    });
    const relay = action("relay", () => {
      log.append("relaying");
      forge.send(null);
    });
    return { log, notes, length, share, unshare, noted, pass, say, forge, relay };
  },
});

interface Doors extends World {
  readonly piece: DocId;
  /** May write, and owns nothing. */
  readonly cy: TestClient;
  readonly ben: Principal;
  /** What the list gives somebody by name. */
  level(who: Principal): unknown;
  ask(client: TestClient, name: string, who?: Principal, id?: string): ReturnType<World["fire"]>;
  /** Commits of the list since the space began, genesis aside. */
  changes(): readonly AcceptedCommit[];
}

async function doors(): Promise<Doors> {
  runs.clear();
  const w = await createWorld({ patterns: [door] });
  const piece = await w.create(door);
  const cy = await w.t.connected("cy");
  await cy.call("space.open", { space: w.space, watches: [] });
  await w.open(w.owner, piece, ["log", "notes", "length"]);
  await w.settle();
  const ben = w.t.identity("ben").did;
  const engine = w.t.server.space(w.space).engine;
  return {
    ...w,
    piece,
    cy,
    ben,
    level: (who) => (engine.read(ACL_DOC, SPACE_SCOPE_KEY).value as Record<string, unknown>)[who],
    ask: (client, name, who = ben, id) => w.fire(client, piece, name, { who }, id),
    changes: () =>
      engine
        .commitsSince(1 as Seq)
        .filter((commit) => commit.changes.some(({ id }) => id === ACL_DOC)),
  };
}

const acl = (w: Doors, client: TestClient, levels: Readonly<Record<string, string>>) =>
  client.commit(w.space, { ops: [{ op: "set", id: ACL_DOC, value: levels }] });

describe("what a run asks of the access list", () => {
  test("[EX-A1] is committed ahead of its wave, as the actor's own commit of the list alone", async () => {
    const w = await doors();
    const told: AcceptedCommit[] = [];
    const feed = w.t.server.space(w.space).feed(w.head(), (commit) => void told.push(commit));
    const e1 = await w.ask(w.owner, "share");
    await w.settle();
    const [append, list, wave] = told;
    expect([append?.appends.length, list?.class, wave?.consequenceOf]).toEqual([
      1,
      "authored",
      [e1],
    ]);
    expect(list).toMatchObject({
      principal: w.owner.identity.did,
      session: w.owner.sessionId,
      holder: w.host.holder,
      capabilityRef: `event-consequence:${e1}`,
      changes: [{ id: ACL_DOC }],
    });
    expect([w.level(w.ben), w.value(w.piece, "log")]).toEqual(["WRITE", ["shared"]]);
    expect(w.watermark()).toBeGreaterThanOrEqual(list?.seq ?? 0);
    feed.close();
    await w.stop();
  });

  test("[EX-A1] counts for the next event of the same wave", async () => {
    const w = await doors();
    w.t.gates.hold("feed:before-apply");
    await w.ask(w.owner, "share", w.cy.identity.did, "e1");
    await w.fire(w.owner, w.piece, "share", { who: w.cy.identity.did, level: "OWNER" }, "e2");
    await w.fire(w.owner, w.piece, "unshare", { who: w.cy.identity.did }, "e3");
    w.t.gates.release("feed:before-apply");
    await w.settle();
    expect(w.changes().map(({ capabilityRef }) => capabilityRef)).toEqual([
      "event-consequence:e1",
      "event-consequence:e2",
      "event-consequence:e3",
    ]);
    expect(w.level(w.cy.identity.did)).toBeUndefined();
    await w.stop();
  });

  test("[EX-A1] that changes nothing adds no commit", async () => {
    const w = await doors();
    await w.ask(w.owner, "share");
    await w.settle();
    await w.ask(w.owner, "share");
    await w.settle();
    expect(w.changes()).toHaveLength(1);
    expect(w.value(w.piece, "log")).toEqual(["shared", "shared"]);
    await w.stop();
  });
});

describe("a refusal", () => {
  test("[EX-A2] is the event's end: nothing of the run lands, and the others of its wave stand", async () => {
    const w = await doors();
    w.t.gates.hold("feed:before-apply");
    const e1 = await w.ask(w.cy, "share");
    const e2 = await w.fire(w.cy, w.piece, "say", "still here");
    w.t.gates.release("feed:before-apply");
    await w.settle();
    expect(w.entry(w.piece, "share", e1)).toMatchObject({
      consequenced: true,
      status: "refused",
      error: expect.stringContaining("may not change the access list") as string,
    });
    expect([w.naming(e1), w.naming(e2)]).toEqual([1, 1]);
    expect([w.value(w.piece, "log"), w.value(w.piece, "length")]).toEqual([["still here"], 1]);
    expect([w.level(w.ben), w.changes(), runs.get("share")]).toEqual([undefined, [], 1]);
    await w.stop();
  });

  test("[EX-A2] the last owner stays, whatever their handler asks", async () => {
    const w = await doors();
    const e1 = await w.ask(w.owner, "unshare", w.owner.identity.did);
    await w.settle();
    expect(w.entry(w.piece, "unshare", e1)).toMatchObject({ status: "refused" });
    expect(w.level(w.owner.identity.did)).toBe("OWNER");
    await w.stop();
  });

  test("[EX-A3] of a list that changed since the seal sends the event back, and its replay decides", async () => {
    const w = await doors();
    const { did } = w.cy.identity;
    await acl(w, w.owner, { [w.owner.identity.did]: "OWNER", [did]: "OWNER", "*": "WRITE" });
    await w.settle();
    w.t.gates.hold("feed:before-apply");
    w.t.gates.hold("wave:before-commit");
    const e1 = await w.ask(w.cy, "share");
    const e2 = await w.fire(w.owner, w.piece, "say", "beside");
    w.t.gates.release("feed:before-apply");
    await w.t.run();
    expect([runs.get("share"), w.t.gates.waiting("wave:before-commit")]).toEqual([1, 1]);
    await acl(w, w.owner, { [w.owner.identity.did]: "OWNER", [did]: "WRITE", "*": "WRITE" });
    w.t.gates.release("wave:before-commit");
    await w.settle();
    expect(w.entry(w.piece, "share", e1)).toMatchObject({ status: "refused" });
    expect([runs.get("share"), w.naming(e1), w.naming(e2)]).toEqual([2, 1, 1]);
    expect([w.level(w.ben), w.value(w.piece, "log")]).toEqual([undefined, ["beside"]]);
    await w.stop();
  });

  test("[EX-A3] takes later events of its stream along, and they ask for nothing until they run again", async () => {
    const w = await doors();
    const { did } = w.cy.identity;
    const owners = { [w.owner.identity.did]: "OWNER", [did]: "OWNER", "*": "WRITE" };
    await acl(w, w.owner, owners);
    await w.settle();
    w.t.gates.hold("feed:before-apply");
    w.t.gates.hold("wave:before-commit");
    const people = ["p1", "p2", "p3", "p4"].map((name) => w.t.identity(name).did);
    for (const [at, who] of people.entries())
      await w.ask(at % 2 === 0 ? w.cy : w.owner, "share", who);
    w.t.gates.release("feed:before-apply");
    await w.t.run();
    await acl(w, w.owner, { ...owners, [did]: "WRITE" });
    w.t.gates.hold("handler:before-run");
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    expect([w.t.gates.waiting("handler:before-run"), runs.get("share")]).toEqual([1, 4]);
    expect(people.filter((who) => w.level(who) !== undefined)).toEqual([]);
    w.t.gates.open();
    await w.settle();
    expect(people.map((who) => w.level(who))).toEqual([undefined, "WRITE", undefined, "WRITE"]);
    expect(w.value(w.piece, "log")).toEqual(["shared", "shared"]);
    await w.stop();
  });
});

test("[EX-W21] a handler that writes the list itself ends as refused, and nothing of its run lands", async () => {
  const w = await doors();
  const e1 = await w.fire(w.owner, w.piece, "forge");
  const e2 = await w.fire(w.owner, w.piece, "say", "on");
  await w.settle();
  expect(w.entry(w.piece, "forge", e1)).toMatchObject({ consequenced: true, status: "refused" });
  expect([w.value(w.piece, "log"), w.level(w.owner.identity.did)]).toEqual([["on"], "OWNER"]);
  expect([runs.get("forge"), w.naming(e1), w.naming(e2)]).toEqual([1, 1, 1]);
  await w.stop();
});

describe("a change that landed", () => {
  test("[EX-A4] stands though its process dies before the wave, and the replay asks for nothing more", async () => {
    const w = await doors();
    w.t.gates.hold("access:after-commit");
    w.t.gates.hold("lease:before-renew", { times: 10 });
    const e1 = await w.ask(w.owner, "share");
    expect(w.t.gates.waiting("access:after-commit")).toBe(1);
    expect([w.level(w.ben), w.value(w.piece, "log")]).toEqual(["WRITE", undefined]);
    // Another process takes over once the lease has run out; the first one is held at the gate meanwhile.
    await w.t.clock.advance(20_000);
    const rival = createHost(w.t, { patterns: [door] }, [], 8);
    rival.start();
    await w.t.run();
    expect(w.entry(w.piece, "share", e1)).toMatchObject({ consequenced: true });
    expect([w.changes().length, w.naming(e1), runs.get("share")]).toEqual([1, 1, 2]);
    expect(w.value(w.piece, "log")).toEqual(["shared"]);
    w.t.gates.open();
    await w.settle(5_000);
    expect([w.changes().length, w.naming(e1)]).toEqual([1, 1]);
    const stopping = rival.stop();
    await w.t.clock.advance(10_000);
    await stopping;
    await w.stop();
  });

  test("[EX-A4] stands though its wave fails, also where its actor gave away the right to ask again", async () => {
    const w = await doors();
    await w.owner.commit(w.space, {
      ops: [
        {
          op: "set",
          id: ACL_DOC,
          value: { [w.owner.identity.did]: "OWNER", [w.ben]: "OWNER", "*": "WRITE" },
        },
      ],
    });
    await w.settle();
    w.t.gates.fail("access:after-commit", new StorageError("disk", { kind: "io" }));
    const e1 = await w.ask(w.owner, "unshare", w.owner.identity.did);
    await w.settle(2_000);
    expect(w.entry(w.piece, "unshare", e1)).toMatchObject({ consequenced: true });
    expect(w.entry(w.piece, "unshare", e1)).not.toHaveProperty("status");
    expect(w.level(w.owner.identity.did)).toBeUndefined();
    expect(w.value(w.piece, "log")).toEqual(["unshared"]);
    await w.stop();
  });

  test("[EX-A4] stands though the event loses a race behind it, and is not made again over what others did since", async () => {
    const w = await doors();
    w.t.gates.hold("access:after-commit");
    const e1 = await w.ask(w.owner, "noted");
    expect(w.level(w.ben)).toBe("WRITE");
    await w.write(w.cy, w.piece, "notes", { last: "cy" });
    await acl(w, w.owner, { [w.owner.identity.did]: "OWNER", "*": "WRITE" });
    w.t.gates.release("access:after-commit");
    await w.settle();
    expect(w.entry(w.piece, "noted", e1)).toMatchObject({ consequenced: true });
    expect([runs.get("noted"), w.naming(e1)]).toEqual([2, 1]);
    expect(w.value(w.piece, "notes")).toEqual({ last: "cy0" });
    expect([w.level(w.ben), w.changes().length]).toEqual([undefined, 2]);
    await w.stop();
  });

  test("[EX-A4] was asked for by a run that landed as the store stood: a raced one asks for nothing", async () => {
    const w = await doors();
    w.t.gates.hold("wave:before-commit");
    w.t.gates.hold("handler:before-run", { times: 2 });
    const e1 = await w.ask(w.owner, "noted");
    w.t.gates.release("handler:before-run");
    await w.t.run();
    expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
    await w.write(w.cy, w.piece, "notes", { last: "cy" });
    w.t.gates.release("wave:before-commit");
    await w.t.run();
    // The replay waits at its gate; the first attempt left nothing in the list.
    expect([w.t.gates.waiting("handler:before-run"), w.level(w.ben)]).toEqual([1, undefined]);
    w.t.gates.release("handler:before-run");
    await w.settle();
    expect([w.level(w.ben), w.changes().length, w.naming(e1)]).toEqual(["WRITE", 1, 1]);
    await w.stop();
  });
});

describe("an in-process copy", () => {
  test("[EX-A6] asks by its entry, once the wave has stored it; what came later in its stream waits behind it", async () => {
    const w = await doors();
    const e1 = await w.ask(w.owner, "pass");
    await w.settle();
    expect(w.value(w.piece, "log")).toEqual(["passing", "beside", "first", "second", "third"]);
    expect(w.level(w.ben)).toBe("READ");
    const refs = w.changes().map(({ principal, capabilityRef }) => [principal, capabilityRef]);
    expect(refs).toHaveLength(2);
    for (const [principal, ref] of refs) {
      expect(principal).toBe(w.owner.identity.did);
      expect(ref).not.toBe(`event-consequence:${e1}`);
    }
    await w.stop();
  });

  test("[EX-A6] of somebody who owns nothing ends as refused, by its entry", async () => {
    const w = await doors();
    await w.ask(w.cy, "pass");
    await w.settle();
    expect(w.value(w.piece, "log")).toEqual(["passing", "beside", "second"]);
    const engine = w.t.server.space(w.space).engine;
    const ends = engine
      .commitsSince(1 as Seq)
      .flatMap(({ marks }) => marks)
      .filter(({ status }) => status !== undefined);
    expect(ends.map(({ status }) => status)).toEqual(["refused", "refused"]);
    await w.stop();
  });

  test("[EX-A7] that is refused at its seal leaves the verdict to the run of its entry", async () => {
    const w = await doors();
    await w.fire(w.owner, w.piece, "relay");
    await w.settle();
    expect([w.value(w.piece, "log"), runs.get("forge")]).toEqual([["relaying"], 2]);
    const marks = w.t.server
      .space(w.space)
      .engine.commitsSince(1 as Seq)
      .flatMap((commit) => commit.marks);
    expect(marks.map(({ status }) => status)).toEqual([undefined, "refused"]);
    expect(w.changes()).toEqual([]);
    await w.stop();
  });
});
