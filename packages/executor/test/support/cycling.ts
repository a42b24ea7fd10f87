import type { DocId, Seq } from "@tidemark/protocol";
import type { Pattern } from "@tidemark/runtime";
import type { EffectPerformers } from "../../src/index.js";
import type { TenureHooks } from "../../src/tenure/binding.js";
import { TenureParts } from "../../src/tenure/parts.js";
import { createWorld, tenureOptions, type World } from "./world.js";

/** A tenure that goes on, and whose cycles are run by hand: nothing wakes them. */
const HOOKS: TenureHooks = {
  wake: () => undefined,
  live: () => true,
  staying: () => true,
  onYield: () => undefined,
  confirmLease: () => true,
  leaseLives: () => true,
};

/** The parts of a tenure over a space with one piece, some of whose nodes are watched. */
export interface Cycling extends World {
  readonly piece: DocId;
  readonly parts: TenureParts;
  /** Cycles until one is at rest. */
  rest(): Promise<void>;
  end(): Promise<void>;
}

export async function cycling(
  patterns: readonly [Pattern, ...Pattern[]],
  watched: readonly string[] = [],
  performers: EffectPerformers = {},
): Promise<Cycling> {
  const w = await createWorld({ patterns, started: false });
  const piece = await w.create(patterns[0]);
  await w.open(w.owner, piece, watched);
  const options = { ...tenureOptions(w.t, w.space, patterns), performers };
  options.served.engine.lease.acquire(options.holder, 600_000);
  const parts = new TenureParts(options);
  parts.enter(HOOKS);
  return {
    ...w,
    piece,
    parts,
    async rest() {
      for (let cycles = 0; cycles < 20; cycles += 1) {
        if ((await parts.loop.cycle()).atRest) return;
        await w.t.run();
      }
      throw new Error("20 cycles did not come to rest");
    },
    async end() {
      parts.leave();
      await w.stop();
    },
  };
}

/** Answers in the place of a floor that the loop reads, one after the other; the last stays. */
export function scripted<K extends string>(
  part: { readonly [name in K]: Seq | undefined },
  name: K,
  answers: readonly (Seq | undefined)[],
): void {
  const left = [...answers];
  Object.defineProperty(part, name, {
    configurable: true,
    get: () => (left.length > 1 ? left.shift() : left[0]),
  });
}
