import { describe, expect, test } from "vitest";
import {
  type DocId,
  type EventId,
  type InstanceKey,
  type JsonValue,
  type PatchOp,
  type Principal,
  type SessionId,
  type ValueOperation,
} from "@tidemark/protocol";
import type { RunWrite } from "../../src/wave/contribution.js";
import { planWave, type Intrusion, type PlanView } from "../../src/wave/plan.js";
import { at, contribution, seq } from "../support/contributions.js";

const set = (name: string, value: number): RunWrite => ({
  key: at(name),
  op: { op: "set", value },
});
const reads = (...names: string[]) =>
  names.map((name) => ({ key: at(name), path: [], kind: "value" as const, seq: seq(1) }));
const event = (stream: string, id: string, place?: number) => ({
  stream: stream as DocId,
  eventId: id as EventId,
  end: { kind: "succeeded" } as const,
  ...(place === undefined ? {} : { place: { seq: seq(place), index: 0 } }),
});

function view(...intrusions: readonly (readonly [string, ValueOperation])[]): PlanView {
  const list = intrusions.map(([name, op], index): Intrusion & { key: InstanceKey } => ({
    key: at(name),
    seq: seq(11 + index),
    op,
    authored: true,
  }));
  return {
    intrusions: (key, after) => list.filter((one) => one.key === key && one.seq > after),
    head: (key) => list.find((one) => one.key === key)?.seq ?? seq(0),
    read: () => ({ value: undefined, seq: seq(0) }),
  };
}

const whole: ValueOperation = { op: "set", value: 99 };

const patch = (name: string, ...value: PatchOp[]): RunWrite => ({
  key: at(name),
  op: { op: "patch", value },
});
const over = (held: JsonValue, of: PlanView): PlanView => ({
  ...of,
  read: () => ({ value: held, seq: seq(9) }),
});

describe("writes into what others of the wave made", () => {
  const make = set("made", 0);
  const into = patch("made", { op: "replace", path: ["deep", "b"], value: 2 });

  test("[EX-W33] one whose write does not apply without a raced event's goes back with it, and nobody else", () => {
    const makes = contribution({
      kind: "event-handler",
      writes: [make, set("x", 1)],
      delivery: event("stream:a", "e1", 5),
    });
    const adds = contribution({
      kind: "event-handler",
      writes: [into],
      delivery: event("stream:b", "e2", 6),
    });
    const other = contribution({
      kind: "event-handler",
      writes: [patch("made", { op: "replace", path: ["flat"], value: 3 })],
      delivery: event("stream:c", "e3", 7),
    });
    const plan = planWave([makes, adds, other], over({ flat: 0 }, view(["x", whole])));
    expect([makes, adds, other].map(({ id }) => plan.fates.get(id))).toMatchObject([
      { kind: "requeued", reason: "raced" },
      { kind: "requeued", reason: "inapplicable" },
      { kind: "lands" },
    ]);
  });

  test("[EX-W33] one that applies to what another of the wave lands beneath it stays, whatever they are rebased on", () => {
    const opens = contribution({
      kind: "event-handler",
      writes: [patch("made", { op: "replace", path: ["deep"], value: {} })],
      delivery: event("stream:a", "e1", 5),
    });
    const adds = contribution({
      kind: "event-handler",
      writes: [into],
      delivery: event("stream:b", "e2", 6),
    });
    const theirs: ValueOperation = {
      op: "patch",
      value: [{ op: "replace", path: ["flat"], value: 9 }],
    };
    const plan = planWave([opens, adds], over({ flat: 9 }, view(["made", theirs])));
    expect([opens, adds].map(({ id }) => plan.fates.get(id)?.kind)).toEqual(["lands", "lands"]);
  });

  test("[EX-W8] what its own session's write leaves without a place is superseded too, and the event completes", () => {
    const fired = { user: "did:key:ana" as Principal, session: "s1" as SessionId };
    const fills = contribution({
      kind: "event-handler",
      writes: [
        patch(
          "list",
          { op: "replace", path: [0], value: "a" },
          { op: "replace", path: [1], value: "b" },
        ),
        set("x", 1),
      ],
      delivery: { ...event("stream:a", "e1", 5), firedBy: fired },
    });
    const removed = {
      seq: seq(8),
      op: { op: "patch", value: [{ op: "remove", path: [0] }] } as const,
      authored: true,
      principal: fired.user,
      session: fired.session,
    };
    const known: PlanView = {
      ...over([], view()),
      intrusions: (key, after) => (key === at("list") && after < 8 ? [removed] : []),
    };
    const plan = planWave([fills], known);
    expect(plan.fates.get(fills.id)).toEqual({ kind: "lands", writes: [set("x", 1)] });
  });
});

describe("the withdrawal closure", () => {
  test("[EX-W14] readers of readers fall with a superseded write, and their siblings do not", () => {
    const x = contribution({ writes: [set("x", 1), set("kept", 1)] });
    const y = contribution({ reads: reads("x"), writes: [set("y", 2)] });
    const z = contribution({ reads: reads("y"), writes: [set("z", 3)] });
    const other = contribution({ reads: reads("kept"), writes: [set("o", 4)] });
    const plan = planWave([x, y, z, other], view(["x", whole]));
    expect([x, y, z, other].map(({ id }) => plan.fates.get(id))).toMatchObject([
      { kind: "lands", writes: [set("kept", 1)] },
      { kind: "withdrawn", reason: "read-withdrawn" },
      { kind: "withdrawn", reason: "read-withdrawn" },
      { kind: "lands" },
    ]);
    expect(plan.supersededWrites).toBe(1);
  });

  test("[EX-W15] a run that left its output as a withdrawn run had made it falls with it; one that wrote it does not", () => {
    const source = contribution({ writes: [set("x", 1)] });
    const first = contribution({ reads: reads("x"), writes: [set("out", 5)] });
    const elided = contribution({
      action: first.action,
      reads: reads("calm"),
      elided: [at("out")],
      previous: first.id,
    });
    const rewritten = contribution({
      action: first.action,
      reads: reads("calm"),
      writes: [set("out", 6)],
      previous: first.id,
    });
    const struck = view(["x", whole]);
    expect(planWave([source, first, elided], struck).fates.get(elided.id)?.kind).toBe("withdrawn");
    expect(planWave([source, first, rewritten], struck).fates.get(rewritten.id)?.kind).toBe(
      "lands",
    );
  });

  test("[EX-W16] a direct supersession arms nothing: an elided re-run of the same node stands", () => {
    const first = contribution({ writes: [set("x", 5)] });
    const again = contribution({ action: first.action, elided: [at("x")], previous: first.id });
    const plan = planWave([first, again], view(["x", whole]));
    expect(plan.fates.get(again.id)?.kind).toBe("lands");
  });

  test("[EX-C4] a copy whose emitter does not land is an orphan, its own cascade too, each counted once", () => {
    const parent = contribution({
      kind: "event-handler",
      reads: reads("p"),
      writes: [{ key: at("p"), op: { op: "set", value: 2 } }],
      delivery: event("stream:a", "e1", 5),
    });
    const child = contribution({
      kind: "event-handler",
      delivery: { ...event("stream:b", "c1"), emitter: parent.id },
    });
    const grandchild = contribution({
      kind: "event-handler",
      delivery: { ...event("stream:c", "c2"), emitter: child.id },
    });
    const plan = planWave([parent, child, grandchild], view(["p", whole]));
    expect([parent, child, grandchild].map(({ id }) => plan.fates.get(id))).toEqual([
      { kind: "requeued", reason: "raced" },
      { kind: "dropped", reason: "orphan" },
      { kind: "dropped", reason: "orphan" },
    ]);
    expect(plan.orphans).toBe(2);
  });

  test("[EX-C4] an orphan holds nobody of its stream, and folds what its event did besides", () => {
    const raced = contribution({
      kind: "event-handler",
      reads: reads("p"),
      writes: [{ key: at("p"), op: { op: "set", value: 2 } }],
      delivery: event("stream:a", "e1", 5),
    });
    const other = contribution({ kind: "event-handler", delivery: event("stream:x", "e2", 6) });
    const copyOf = (emitter: number, id: string) =>
      contribution({ kind: "event-handler", delivery: { ...event("stream:b", id), emitter } });
    const orphan = copyOf(raced.id, "c1");
    const intent = copyOf(raced.id, "c1");
    const child = copyOf(other.id, "c2");
    const plan = planWave([raced, other, orphan, intent, child], view(["p", whole]));
    expect([orphan, intent, child].map(({ id }) => plan.fates.get(id))).toEqual([
      { kind: "dropped", reason: "orphan" },
      { kind: "dropped", reason: "orphan" },
      { kind: "lands", writes: [] },
    ]);
    expect(plan.orphans).toBe(1);
  });

  test("[EX-C5] a copy that lost a race leaves its entry to the drain: its emitter lands", () => {
    const parent = contribution({ kind: "event-handler", delivery: event("stream:a", "e1", 5) });
    const child = contribution({
      kind: "event-handler",
      reads: reads("q"),
      writes: [{ key: at("q"), op: { op: "set", value: 2 } }],
      delivery: { ...event("stream:b", "c1"), emitter: parent.id },
    });
    const plan = planWave([parent, child], view(["q", whole]));
    expect(plan.fates.get(parent.id)?.kind).toBe("lands");
    expect(plan.fates.get(child.id)).toEqual({ kind: "requeued", reason: "raced" });
  });

  test("[EX-C6] contributions of one event fold together", () => {
    const intent = contribution({ kind: "event-handler", delivery: event("stream:a", "e1", 5) });
    const handling = contribution({
      kind: "event-handler",
      reads: reads("p"),
      writes: [{ key: at("p"), op: { op: "set", value: 2 } }],
      delivery: event("stream:a", "e1", 5),
    });
    const plan = planWave([intent, handling], view(["p", whole]));
    expect(plan.fates.get(intent.id)).toEqual({ kind: "requeued", reason: "sibling" });
  });

  test("[EX-W17] bookkeeping that conflicts is dropped whole", () => {
    const own = contribution({ kind: "bookkeeping", writes: [set("b", 1)] });
    expect(planWave([own], view(["b", whole])).fates.get(own.id)).toEqual({
      kind: "dropped",
      reason: "raced",
    });
  });

  test("[EX-W18] a failed precondition costs its carrier: requeued if an event, dropped if a derivation", () => {
    const handler = contribution({ kind: "event-handler", delivery: event("stream:a", "e1", 5) });
    const node = contribution({ writes: [set("x", 1)] });
    const reader = contribution({ reads: reads("x"), writes: [set("y", 1)] });
    const other = contribution({ writes: [set("o", 1)] });
    const refused = new Map([handler, node].map(({ id }) => [id, "precondition"] as const));
    const plan = planWave([handler, node, reader, other], view(), refused);
    expect([handler, node, reader, other].map(({ id }) => plan.fates.get(id))).toMatchObject([
      { kind: "requeued", reason: "precondition" },
      { kind: "dropped", reason: "precondition" },
      { kind: "withdrawn", reason: "read-withdrawn" },
      { kind: "lands" },
    ]);
  });

  test("[EX-E7] a receipt lands once: where one stands the write is left out and the event completes", () => {
    const handling = contribution({
      kind: "event-handler",
      writes: [{ key: at("receipt"), op: { op: "set", value: {} }, once: true }, set("x", 1)],
      delivery: event("stream:a", "e1", 5),
    });
    const struck = view(["receipt", { op: "set", value: {} }]);
    const plan = planWave([handling], struck);
    expect(plan.fates.get(handling.id)).toMatchObject({ kind: "lands", writes: [set("x", 1)] });
    expect([...plan.standing]).toEqual([[handling.id, at("receipt")]]);
    // One that does not land collides with nothing yet.
    const raced = planWave([handling], view(["receipt", { op: "set", value: {} }], ["x", whole]));
    expect([raced.fates.get(handling.id)?.kind, raced.standing.size]).toEqual(["requeued", 0]);
  });
});
