import * as fc from "fast-check";
import { expect, test } from "vitest";
import { applyOperation } from "@tidemark/protocol";
import type { InstanceKey, JsonValue, ValueOperation } from "@tidemark/protocol";
import { Overlay } from "@tidemark/speculation";
import { replayFromScratch } from "@tidemark/speculation/testing";
import {
  append,
  at,
  echo,
  event,
  FakeReplica,
  key,
  local,
  opsOf,
  set,
  STREAM,
} from "../support.js";

const NAMES = ["a", "b", "c"] as const;

type Step =
  | { readonly do: "fire"; readonly doc: string; readonly set: boolean }
  | { readonly do: "edit"; readonly doc: string; readonly set: boolean }
  | { readonly do: "end"; readonly nth: number }
  | { readonly do: "refuse"; readonly nth: number }
  | { readonly do: "frame"; readonly doc: string }
  | { readonly do: "rebase"; readonly nth: number };

const doc = fc.constantFrom(...NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("fire" as const), doc, set: fc.boolean() }),
  fc.record({ do: fc.constant("edit" as const), doc, set: fc.boolean() }),
  fc.record({ do: fc.constant("end" as const), nth: fc.nat(5) }),
  fc.record({ do: fc.constant("refuse" as const), nth: fc.nat(5) }),
  fc.record({ do: fc.constant("frame" as const), doc }),
  fc.record({ do: fc.constant("rebase" as const), nth: fc.nat(5) }),
);

/** What stands, as a list in order: the oracle that is replayed from scratch after every step. */
interface Standing {
  readonly origin: string;
  readonly id: number;
  readonly doc: string;
  readonly op: ValueOperation;
}

function replay(
  replica: FakeReplica,
  standing: readonly Standing[],
  name: string,
): JsonValue | undefined {
  let value = replica.get(key(name))?.value;
  for (const entry of standing) if (entry.doc === name) value = applyOperation(value, entry.op);
  return value;
}

test("[SP-E1] [SP-R2] after any history the view equals a replay of what stands over the replica", () => {
  let rebases = 0;
  const body = (steps: readonly Step[]): void => {
    const replica = new FakeReplica();
    for (const name of NAMES) replica.row(name, [], 1);
    const overlay = new Overlay(replica);
    let standing: Standing[] = [];
    let next = 1;
    const pick = (prefix: string, nth: number): Standing | undefined =>
      standing.filter((s) => s.origin.startsWith(prefix))[nth];
    for (const s of steps) {
      const id = next;
      next += 1;
      if (s.do === "fire" || s.do === "edit") {
        const op = s.set ? set([id]) : append(id);
        const intent = s.do === "fire";
        if (intent) {
          overlay.openIntent(event(`e${id}`), STREAM);
          overlay.sealHandler(event(`e${id}`), echo(`e${id}`, { [s.doc]: op }));
        } else overlay.sealEdit(local(id), opsOf({ [s.doc]: op }), at(1));
        standing.push({ origin: intent ? `intent e${id}` : `input ${id}`, id, doc: s.doc, op });
      } else if (s.do === "end" || s.do === "refuse") {
        const gone = pick(s.do === "end" ? "intent" : "input", s.nth);
        if (gone === undefined) continue;
        if (s.do === "end") overlay.endIntent(event(`e${gone.id}`));
        else overlay.refuseInput(local(gone.id));
        standing = standing.filter((other) => other !== gone);
      } else if (s.do === "frame") replica.row(s.doc, [-id], id);
      else if (s.nth < overlay.slots.length) {
        rebases += 1;
        for (const slot of overlay.withdrawFrom(s.nth).slots) {
          const entry = standing.find((other) => other.origin === slot.origin);
          if (slot.kind === "input" || entry === undefined) overlay.restore(slot.origin);
          else {
            overlay.reopen(slot.origin);
            overlay.sealHandler(slot.eventId, echo("again", { [entry.doc]: entry.op }));
          }
        }
      }
      for (const name of NAMES) {
        const seen = overlay.view.get(key(name))?.value;
        expect(seen).toEqual(replay(replica, standing, name));
        expect(seen).toEqual(replayFromScratch(overlay, replica, key(name)));
      }
      expect(overlay.size).toBe(standing.length);
    }
  };
  const seed = process.env["FUZZ_SEED"];
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), body), {
    numRuns: Number(process.env["FUZZ_RUNS"] ?? 300),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  });
  expect(rebases).toBeGreaterThan(0);
});

interface Signal {
  readonly kind: "ack" | "watermark" | "row";
  readonly input: number;
}

test("[SP-N4] [SP-N8] whatever order acks, watermarks and rows come in, the same is left at the end", () => {
  const INPUTS = 3;
  const signals: Signal[] = [1, 2, INPUTS].flatMap((input) =>
    (["ack", "watermark", "row"] as const).map((kind) => ({ kind, input })),
  );
  const run = (
    order: readonly Signal[],
    drop: number,
  ): readonly [number, Map<InstanceKey, unknown>] => {
    const replica = new FakeReplica();
    const overlay = new Overlay(replica);
    for (let input = 1; input <= INPUTS; input += 1) {
      replica.row(`n${input}`, 0, 1);
      replica.row(`d${input}`, 0, 1, "derived");
      overlay.sealEdit(local(input), opsOf({ [`n${input}`]: set(input) }), at(1));
      overlay.sealDerived(echo(`d${input}`, { [`d${input}`]: set(input) }, [`n${input}`]));
    }
    for (const signal of order.slice(0, order.length - drop)) {
      const floor = signal.input * 10;
      if (signal.kind === "ack") overlay.acked(local(signal.input), at(floor));
      else if (signal.kind === "watermark")
        replica.watermark = at(Math.max(replica.watermark, floor));
      else {
        replica.row(`n${signal.input}`, signal.input, floor, "authored");
        replica.row(`d${signal.input}`, -signal.input, floor + 1, "derived");
      }
      overlay.sweep(replica.facts);
    }
    const seen = new Map<InstanceKey, unknown>();
    for (let n = 1; n <= INPUTS; n += 1)
      seen.set(key(`d${n}`), overlay.view.get(key(`d${n}`))?.value);
    return [overlay.size, seen];
  };
  const shuffled = fc.shuffledSubarray(signals, {
    minLength: signals.length,
    maxLength: signals.length,
  });
  fc.assert(
    fc.property(shuffled, (order) => {
      const [size, seen] = run(order, 0);
      expect(size).toBe(0);
      expect([...seen.values()]).toEqual([-1, -2, -3]);
      // The set of signals decides, not their order: the same prefix in the canonical order agrees.
      const prefix = order.slice(0, 5);
      const canonical = signals.filter((signal) => prefix.includes(signal));
      expect(run(prefix, 0)).toEqual(run(canonical, 0));
    }),
    { numRuns: 200 },
  );
});
