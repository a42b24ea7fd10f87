import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  DuplicateEventError,
  isTidemarkError,
  ProtocolError,
  StorageError,
  type AppendRequest,
  type DocId,
  type EventId,
  type LocalSeq,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { AppendTurns } from "../../src/server/session/append-turns.js";

/*
 * Against a plain list of what was refused for now: an append is admitted exactly when admission wants it
 * and no earlier event of its stream is on the list, in whatever order and however often things are sent.
 */

const VERDICTS = {
  ok: undefined,
  passing: new StorageError("full", { kind: "full" }),
  final: new ProtocolError("wrong"),
  duplicate: new DuplicateEventError("there", { eventId: "e" as EventId, seq: 1 as Seq }),
} as const;

type Step =
  | { readonly kind: "send"; readonly n: number; readonly at: string; readonly verdict: Verdict }
  | { readonly kind: "close" };
type Verdict = keyof typeof VERDICTS;

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      n: fc.integer({ min: 1, max: 9 }),
      at: fc.constantFrom("s a", "s b", "t a"),
      verdict: fc.constantFrom<Verdict>("ok", "ok", "passing", "final", "duplicate"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "close" as const }) },
);
/** A transaction: its appends, and whether it fails as a whole. */
const groups = fc.record({ steps: fc.array(steps, { maxLength: 6 }), fails: fc.boolean() });

class Listed {
  readonly standing = new Map<string, Set<number>>();
  told(at: string, n: number, passing: boolean): void {
    const set = this.standing.get(at) ?? new Set();
    this.standing.set(at, set);
    if (passing) set.add(n);
    else set.delete(n);
  }
  before(at: string, n: number): boolean {
    return [...(this.standing.get(at) ?? [])].some((standing) => standing < n);
  }
  close(space: string): void {
    for (const at of this.standing.keys()) if (at.startsWith(space)) this.standing.delete(at);
  }
  get size(): number {
    return [...this.standing.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

function request(n: number, stream: string): AppendRequest {
  const entry = { eventId: `e${n}` as EventId, payload: null };
  return { localSeq: n as LocalSeq, stream: stream as DocId, entry };
}

/** What admission said: nothing, or the code of the refusal. */
function admit(turns: AppendTurns, { n, at, verdict }: Step & { kind: "send" }): string {
  const [space = "", stream = ""] = at.split(" ");
  try {
    return turns.admit(space as SpaceId, request(n, stream), () => {
      const error = VERDICTS[verdict];
      if (error !== undefined) throw error;
      return "ok";
    });
  } catch (error) {
    return isTidemarkError(error) ? error.code : "?";
  }
}

test("[ME-N15] whatever is sent and answered, an append is admitted exactly when none before it stands", () => {
  const reached = { admitted: 0, outOfTurn: 0, rolledBack: 0 };
  const property = fc.property(fc.array(groups, { maxLength: 12 }), (history) => {
    const turns = new AppendTurns();
    const list = new Listed();
    for (const { steps: group, fails } of history) {
      for (const step of group) {
        if (step.kind === "close") {
          turns.closed("s" as SpaceId);
          list.close("s");
          continue;
        }
        const { at, n, verdict } = step;
        const held = list.before(at, n);
        const said = admit(turns, step);
        expect(said === "out-of-turn").toBe(held);
        list.told(at, n, held || verdict === "passing");
        reached.admitted += said === "ok" ? 1 : 0;
        reached.outOfTurn += held ? 1 : 0;
      }
      if (!fails) continue;
      for (const step of group) {
        if (step.kind === "close") continue;
        const [space = "", stream = ""] = step.at.split(" ");
        turns.refused(space as SpaceId, request(step.n, stream), VERDICTS.passing);
        list.told(step.at, step.n, true);
        reached.rolledBack += 1;
      }
      expect(turns.size).toBe(list.size);
    }
    expect(turns.size).toBe(list.size);
  });
  fc.assert(property, { numRuns: Number(process.env["FUZZ_RUNS"] ?? 200) });
  expect(Math.min(reached.admitted, reached.outOfTurn, reached.rolledBack)).toBeGreaterThan(0);
});
