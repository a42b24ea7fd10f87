import type { Usage } from "./server.js";

/** What was in use at one point of a replay. */
export interface MemorySample {
  /** Events handled by then. */
  readonly done: number;
  /** Which process it was: 0 the first, one more after each kill. */
  readonly life: number;
  readonly server: Usage;
  /** Heap of the process of the clients, bytes; undefined where it cannot collect first. */
  readonly clientHeapBytes: number | undefined;
}

/** How far a quantity strays: half of the distance between its extremes, with these. Bytes. */
export interface Spread {
  readonly half: number;
  readonly least: number;
  readonly most: number;
}

/** What a process does in its first events is code and caches that later ones have too. */
export const WARM_UP_EVENTS = 2_000;

/** The samples of processes that were warm. */
export function warm(samples: readonly MemorySample[]): readonly MemorySample[] {
  const startOf = new Map<number, number>();
  for (const { life, done } of samples) if (!startOf.has(life)) startOf.set(life, done);
  return samples.filter(
    ({ life, done }) => done >= (life === 0 ? 0 : (startOf.get(life) ?? 0)) + WARM_UP_EVENTS,
  );
}

/** Undefined for fewer than two values: nothing could have strayed. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length < 2) return undefined;
  const least = Math.min(...values);
  const most = Math.max(...values);
  return { half: (most - least) / 2, least, most };
}
