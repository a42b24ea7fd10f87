import { AuthorizationError, LimitError, SpeculativeBasisError } from "@tidemark/protocol";
import type { EventId, SpaceId } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { served, set, World } from "../support/world.js";

const entriesOf = (world: World, handler: string): string[] =>
  world.server.server
    .space(world.space)
    .engine.entries.pending()
    .filter(({ stream }) => stream === world.stream(handler))
    .map(({ payload }) => String(payload));

test("[CL-D1] what is fired offline shows at once, waits, and is appended in order on reconnect", async () => {
  const { world, a1, piece, space } = await served();
  a1.disconnect();
  const fired = ["x", "y", "z"].map((text) => piece.fire("add", text));
  await world.run();
  expect(piece.get("items").value).toEqual(["x", "y", "z"]);
  expect([a1.queuedEvents, fired.map(({ outcome }) => outcome)]).toEqual([
    3,
    [undefined, undefined, undefined],
  ]);
  a1.reconnect();
  await world.run();
  expect([entriesOf(world, "add"), space.queued]).toEqual([["x", "y", "z"], 0]);
  await world.serve({ events: fired, writes: { items: set(["x", "y", "z"]) } });
  expect(fired.map(({ outcome }) => outcome?.kind)).toEqual(Array(3).fill("consequenced"));
  expect(space.speculative).toBe(0);
});

test("[CL-D2] an append cut off before its answer is sent again under its id and counts once", async () => {
  const { world, a1, piece, space } = await served();
  const fired = piece.fire("add", "once");
  // The append has left; the connection goes before the answer can come.
  a1.disconnect();
  await world.run();
  a1.reconnect();
  await world.run();
  expect([entriesOf(world, "add"), space.queued]).toEqual([["once"], 0]);
  await expect(fired.appended).resolves.toMatchObject({ seq: expect.any(Number) });
  await world.serve({ events: [fired], writes: { items: set(["once"]) } });
  expect([fired.outcome?.kind, piece.get("items").value]).toEqual(["consequenced", ["once"]]);
});

test("[CL-D21] appended settles with the append, and waits neither for the handling nor for the screen", async () => {
  const { world, a1, piece } = await served();
  a1.disconnect();
  const fired = piece.fire("inc");
  let place: unknown = "none yet";
  void fired.appended.then((appended) => (place = appended));
  await world.run();
  expect(place).toBe("none yet");
  a1.reconnect();
  await world.run();
  const [entry] = world.server.server.space(world.space).engine.entries.pending();
  expect(place).toEqual({ seq: entry?.seq });
  // It is on the record, and nothing has handled it: the outcome is still to come.
  expect([fired.outcome, entry?.eventId]).toEqual([undefined, fired.eventId]);
  await world.serve({ events: [fired], status: "errored", error: "broken" });
  expect(fired.outcome?.kind).toBe("errored");
  await expect(fired.appended).resolves.toBe(place);
});

test("[CL-D21] appended rejects with the delivery error of an append that is refused", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1, { [world.server.identity("ben").did]: "READ" });
  world.open(a1);
  const b1 = world.client("ben", "t1");
  await world.run();
  const { piece } = world.open(b1);
  await world.run();
  const fired = piece.fire("inc");
  await world.run();
  await expect(fired.appended).rejects.toMatchObject({
    code: "event-delivery",
    kind: "append-refused",
    details: { eventId: fired.eventId },
  });
});

test("[CL-D3] an event whose end came while the client was away settles when it is back", async () => {
  const { world, a1, piece, space } = await served();
  const good = piece.fire("inc");
  const bad = piece.fire("bump");
  await world.run();
  a1.disconnect();
  await world.run();
  await world.serve({ events: [good], writes: { count: set(1), double: set(2) } });
  await world.serve({ events: [bad], status: "errored", error: "broken" });
  a1.reconnect();
  await world.run();
  expect([good.outcome?.kind, bad.outcome?.kind]).toEqual(["consequenced", "errored"]);
  expect([piece.get("count").value, space.speculative]).toEqual([1, 0]);
});

test("[CL-D4] a proven denial leaves the queue, takes the echo along and is told; a later grant brings nothing back", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1, { [world.server.identity("ben").did]: "READ" });
  const mine = world.open(a1);
  const b1 = world.client("ben", "t1");
  await world.run();
  const { piece, space } = world.open(b1);
  await world.run();
  const fired = piece.fire("inc");
  await world.run();
  expect(fired.outcome).toMatchObject({ kind: "append-refused" });
  await expect(fired.appended).rejects.toMatchObject({ kind: "append-refused" });
  expect([space.queued, piece.get("count").value]).toEqual([0, 0]);
  const level = (b: string): Record<string, string> => ({
    [a1.whoami.principal]: "OWNER",
    [b1.whoami.principal]: b,
  });
  void mine.space.setAcl(level("WRITE") as never);
  await world.clock.advance(60_000);
  expect(entriesOf(world, "inc")).toEqual([]);
  piece.fire("inc");
  await world.run();
  expect(entriesOf(world, "inc")).toHaveLength(1);
});

test("[CL-D5] a denial without the list's evidence keeps the intent for the next connection", async () => {
  const { world, a1, piece, space } = await served();
  world.server.gates.fail("append:before-admit", new AuthorizationError("not now", {}));
  const fired = piece.fire("inc");
  await world.run();
  expect([space.queued, fired.outcome, piece.get("count").value]).toEqual([1, undefined, 1]);
  a1.disconnect();
  a1.reconnect();
  await world.run();
  expect([entriesOf(world, "inc").length, space.queued]).toEqual([1, 0]);
});

test("[CL-D5] such an intent is tried again when the access list changes, without a reconnect", async () => {
  const { world, a1, piece, space } = await served();
  world.server.gates.fail("append:before-admit", new AuthorizationError("not now", {}));
  piece.fire("inc");
  await world.clock.advance(600_000);
  expect(space.queued).toBe(1);
  void space.setAcl({ [a1.whoami.principal]: "OWNER", "*": "READ" } as never);
  await world.run();
  expect([entriesOf(world, "inc").length, space.queued]).toEqual([1, 0]);
});

test("[CL-D1] hundreds of events fired offline are all there, in order", async () => {
  const world = new World();
  const pacing = { burst: 1, ratePerSecond: Infinity };
  const a1 = world.client("alice", "s1", { policy: { appendPacing: pacing } });
  await world.found(a1);
  const { piece, space } = world.open(a1);
  await world.run();
  a1.disconnect();
  const COUNT = 500;
  for (let n = 0; n < COUNT; n += 1) piece.fire("inc");
  await world.run();
  expect([piece.get("count").value, space.queued]).toEqual([COUNT, COUNT]);
  a1.reconnect();
  await world.run();
  expect([entriesOf(world, "inc").length, space.queued]).toEqual([COUNT, 0]);
});

test("[CL-D6] streams are paced by themselves: a flood waits its turn and holds no other stream", async () => {
  const { world, a1, piece } = await served();
  for (let n = 0; n < 22; n += 1) piece.fire("add", String(n));
  piece.fire("inc");
  await world.run();
  expect([a1.queuedEvents, entriesOf(world, "add").length, entriesOf(world, "inc").length]).toEqual(
    [2, 20, 1],
  );
  await world.clock.advance(1000);
  expect(a1.queuedEvents).toBe(0);
  expect(entriesOf(world, "add")).toEqual(Array.from({ length: 22 }, (_, n) => String(n)));
});

test("[CL-D7] typing is never refused for an echo that stands on the same cell", async () => {
  const { world, piece } = await served();
  piece.fire("bump");
  await world.run();
  const typed = piece.set("count", 40);
  await world.run();
  await expect(typed).resolves.toMatchObject({ seq: expect.any(Number) });
  expect([world.stored("count"), piece.get("count").value]).toEqual([40, 40]);
});

test("[CL-D8] a write that rests on an unconfirmed value is refused at once, and nothing is sent", async () => {
  const { world, piece } = await served();
  piece.fire("bump");
  await world.run();
  const head = world.server.server.space(world.space).engine.head();
  expect(() => piece.update("count", (n) => (n ?? 0) + 1)).toThrow(SpeculativeBasisError);
  await world.clock.advance(60_000);
  expect(world.server.server.space(world.space).engine.head()).toBe(head);
});

test("[CL-D9] an update rests on the confirmed value: it conflicts with whatever came first", async () => {
  const { world, piece } = await served();
  const good = piece.update("count", (n) => (n ?? 0) + 5);
  await world.run();
  await expect(good).resolves.toBeDefined();
  await world.serve({ writes: { double: set(10) } });
  const b1 = world.client("ben", "t1");
  await world.run();
  const other = world.open(b1).piece;
  await world.run();
  void other.set("count", 50);
  const late = piece.update("count", (n) => (n ?? 0) + 1);
  late.catch(() => undefined);
  await world.run();
  await expect(late).rejects.toMatchObject({ code: "conflict" });
  expect([piece.get("count").value, world.errors]).toEqual([50, [expect.anything()]]);
});

test("[CL-D10] a refused edit leaves the screen and shows as an error", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1, { "*": "READ" });
  const b1 = world.client("ben", "t1");
  await world.run();
  const { piece, space } = world.open(b1);
  await world.run();
  const edit = piece.set("count", 9);
  expect(piece.get("count").value).toBe(9);
  await world.run();
  await expect(edit).rejects.toMatchObject({ code: "unauthorized" });
  expect([piece.get("count").value, space.speculative, world.errors.length]).toEqual([0, 0, 1]);
});

test("[CL-D11] edits made offline land in order, also relative to events", async () => {
  const { world, a1, piece } = await served();
  a1.disconnect();
  const fired = piece.fire("inc");
  void piece.set("count", 7);
  void piece.patch("items", [{ op: "append", path: [], value: "a" }]);
  await world.run();
  expect([piece.get("count").value, piece.get("items").value]).toEqual([7, ["a"]]);
  a1.reconnect();
  await world.run();
  const { engine } = world.server.server.space(world.space);
  const [entry] = engine.entries.byEvent(fired.stream, fired.eventId);
  expect(entry?.seq).toBeLessThan(engine.read(world.node("count"), "space" as never).seq);
  expect([world.stored("count"), world.stored("items")]).toEqual([7, ["a"]]);
});

test("[CL-D12] an edit whose answer was lost shows once, and counts once, after the reconnect", async () => {
  const { world, a1, piece } = await served();
  const seen: unknown[] = [];
  piece.get("items").subscribe((value) => seen.push(value));
  void piece.patch("items", [{ op: "append", path: [], value: "a" }]);
  a1.disconnect();
  await world.run();
  a1.reconnect();
  await world.run();
  expect(seen).toEqual([[], ["a"]]);
  expect(world.stored("items")).toEqual(["a"]);
});

test("[CL-D13] waiting for settled resolves when W covers what this client has committed, and leaves nothing", async () => {
  const { world, piece, space } = await served();
  piece.fire("inc");
  let done = 0;
  void space.waitForSettled().then(() => (done += 1));
  await world.run();
  expect(done).toBe(0);
  const { engine } = world.server.server.space(world.space);
  await world.serve({ watermark: engine.head() });
  expect(done).toBe(1);
  await space.waitForSettled((engine.head() - 1) as never);
});

test("[CL-D14] the handler's value comes as the event's result, and {} where there is none", async () => {
  const { world, piece, space } = await served();
  const fired = piece.fire("inc");
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(1), double: set(2) } });
  const result = fired.result();
  await world.run();
  expect(await result).toEqual({});
  await world.run();
  expect(space.core.watches.list()).toHaveLength(1);
});

test("[CL-D15] what is too large to be sent is refused here, and what comes after it goes through", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1", { policy: { maxMessageBytes: 100_000 } });
  await world.found(a1);
  const { piece, space } = world.open(a1);
  await world.run();
  const huge = piece.fire("add", "x".repeat(99_500));
  const next = piece.fire("inc");
  await world.run();
  expect(huge.outcome).toMatchObject({ kind: "append-refused" });
  await expect(huge.appended).rejects.toMatchObject({ cause: expect.any(LimitError) });
  expect([space.queued, entriesOf(world, "inc").length]).toEqual([0, 1]);
  expect(next.outcome).toBeUndefined();
  await expect(piece.set("items", ["x".repeat(200_000)])).rejects.toBeInstanceOf(LimitError);
  expect(() => piece.fire("add", "x".repeat(50_000_000))).toThrow("too-large");
});

test("[CL-D16] what was not sent when the user signs out ends visibly and is sent by nobody", async () => {
  const { world, a1, piece } = await served();
  a1.disconnect();
  const fired = piece.fire("add", "mine");
  const edit = piece.set("count", 3);
  const refusal = edit.catch((error: unknown) => String(error));
  await a1.close();
  await world.run();
  expect(fired.outcome).toMatchObject({
    kind: "append-refused",
    reason: expect.stringContaining("signed out"),
  });
  expect(await refusal).toContain("signed out");
  const b1 = world.client("ben", "s1");
  await world.run();
  world.open(b1);
  await world.run();
  expect(entriesOf(world, "add")).toEqual([]);
});

test("[CL-D17] a tab that was taken over goes on under its own session and loses no event", async () => {
  const { world, a1, piece } = await served();
  const twin = world.client("alice", "s1");
  await world.run();
  piece.fire("add", "kept");
  await world.clock.advance(1000);
  expect(a1.whoami.sessionId).not.toBe("s1");
  expect(twin.whoami.sessionId).toBe("s1");
  expect([a1.status.value.state, twin.status.value.state]).toEqual(["online", "online"]);
  expect([entriesOf(world, "add"), piece.get("items").value]).toEqual([["kept"], ["kept"]]);
});

test("[CL-D18] the same event id twice is one event for its sender", async () => {
  const { world, piece, space } = await served();
  const fired = piece.fire("add", "one");
  await world.run();
  const entry = { eventId: fired.eventId, payload: "again" };
  const again = space.raw.append({ stream: fired.stream, entry });
  again.catch(() => undefined);
  await world.run();
  await expect(again).rejects.toMatchObject({ code: "duplicate-event" });
  expect(entriesOf(world, "add")).toEqual(["one"]);
});

/** Fired offline; then `user` sends an event of that id, and the first sender is back. */
async function overtaken(user: string) {
  const { world, a1, piece } = await served();
  const other = world.client(user, "t2");
  await world.run();
  const { space } = world.open(other);
  await world.run();
  a1.disconnect();
  const fired = piece.fire("add", "mine");
  await world.run();
  const entry = { eventId: fired.eventId, payload: "theirs" };
  await Promise.all([space.raw.append({ stream: fired.stream, entry }), world.run()]);
  a1.reconnect();
  await world.run();
  return { world, fired };
}

test("[CL-D18] the sender of a duplicate is told the end of the one that its user sent first, from whichever session", async () => {
  const { world, fired } = await overtaken("alice");
  expect([entriesOf(world, "add"), fired.outcome]).toEqual([["theirs"], undefined]);
  await world.serve({ events: [fired], status: "errored", error: "no" });
  expect(fired.outcome).toMatchObject({ kind: "errored" });
});

test("[CL-D18] an event whose id somebody else's event has taken is refused, whatever becomes of that one", async () => {
  const { world, fired } = await overtaken("ben");
  expect(entriesOf(world, "add")).toEqual(["theirs"]);
  expect(fired.outcome).toMatchObject({ kind: "append-refused" });
});

test("[CL-D19] raw appends and commits go straight to admission and come back with its verdict", async () => {
  const { world, space } = await served();
  const stream = world.stream("add");
  const forged = space.raw.append({
    stream,
    entry: { eventId: "e-1" as EventId, payload: 1, consequenced: true } as never,
  });
  forged.catch(() => undefined);
  const made = space.raw.commit({
    reads: [],
    ops: [{ op: "set", id: world.node("count"), value: 3 }],
    localSeq: 900 as never,
  });
  await world.run();
  await expect(forged).rejects.toMatchObject({ code: "protocol" });
  await expect(made).resolves.toMatchObject({ seq: expect.any(Number) });
  expect(world.stored("count")).toBe(3);
});

test("[CL-D20] a space that may not be read says so and does not try for ever", async () => {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1, {});
  const b1 = world.client("ben", "t1");
  await world.run();
  const space = b1.open(world.space);
  const before = (): number => world.server.server.stats().connections;
  await world.run();
  expect(space.state.value).toMatchObject({ state: "denied" });
  const connections = before();
  await world.clock.advance(600_000);
  expect(before()).toBe(connections);
  const nowhere = b1.open(world.server.identity("nowhere").did as unknown as SpaceId);
  await world.run();
  expect(nowhere.state.value.state).not.toBe("open");
});
