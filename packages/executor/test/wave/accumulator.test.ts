import { describe, expect, test } from "vitest";
import {
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type EventId,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import { WaveAccumulator, type Draft, type WaveBase } from "../../src/wave/accumulator.js";
import type { RunWrite } from "../../src/wave/contribution.js";
import { planWave, type PlanView } from "../../src/wave/plan.js";
import { at, seq } from "../support/contributions.js";

/** A replica that stands at 10 and holds what was put into it. */
class Base implements WaveBase {
  readonly seq = seq(10);
  readonly #held = new Map<InstanceKey, Held>();

  get(key: InstanceKey): Held {
    return this.#held.get(key) ?? { value: undefined, seq: seq(0) };
  }

  accept(key: InstanceKey, value: JsonValue | undefined, held: Seq): void {
    this.#held.set(key, { value, seq: held });
  }
}

const quiet: PlanView = {
  intrusions: () => [],
  head: () => seq(0),
  read: () => ({ value: undefined, seq: seq(0) }),
};

const increment = (name: string): RunWrite => ({
  key: at(name),
  op: { op: "patch", value: [{ op: "increment", path: [], value: 1 }] },
});

function draft(name: string, over: Partial<Draft>): Draft {
  return {
    kind: "derivation",
    action: `t/${name}@p` as ActionId,
    instance: SPACE_SCOPE_KEY,
    reads: [],
    elided: [],
    writes: [],
    sends: [],
    ...over,
  };
}

const event = (id: string): Partial<Draft> => ({
  kind: "event-handler",
  delivery: {
    stream: `stream:${id}` as DocId,
    eventId: id as EventId,
    place: { seq: seq(5), index: 0 },
    end: { kind: "succeeded" },
  },
});

describe("what is sealed while a wave commits", () => {
  test("[EX-W31] is not taken into the replica with it, and shows over what landed", () => {
    const base = new Base();
    const accumulator = new WaveAccumulator(base);
    accumulator.seal(draft("first", { ...event("e1"), writes: [increment("n")] }));
    const wave = accumulator.close();
    accumulator.seal(draft("second", { ...event("e2"), writes: [increment("n")] }));
    accumulator.accept(wave, planWave(wave.contributions, quiet), seq(11));
    expect(base.get(at("n"))).toEqual({ value: 1, seq: 11 });
    expect(accumulator.view.get(at("n"))?.value).toBe(2);
    const next = accumulator.close();
    accumulator.accept(next, planWave(next.contributions, quiet), seq(12));
    expect(base.get(at("n"))).toEqual({ value: 2, seq: 12 });
  });

  test("[EX-W15] falls with a run of that wave whose output it left as it was", () => {
    const accumulator = new WaveAccumulator(new Base());
    const read = { key: at("n"), path: [], kind: "value", seq: seq(0) } as const;
    const source = accumulator.seal(draft("e", { ...event("e1"), writes: [increment("n")] }));
    const set = { key: at("out"), op: { op: "set", value: 1 } } as const;
    accumulator.seal(draft("out", { reads: [read], writes: [set] }));
    const wave = accumulator.close();
    const elided = accumulator.seal(draft("out", { elided: [at("out")] }));
    const other = accumulator.seal(draft("other", { elided: [at("another")] }));
    const refused = new Map([[source.contribution.id, "precondition"] as const]);
    const plan = planWave(wave.contributions, quiet, refused);
    const settled = accumulator.accept(wave, plan, seq(11));
    expect(settled.withdrawn).toEqual([elided.contribution]);
    expect(accumulator.open.contributions).toEqual([other.contribution]);
  });
});
