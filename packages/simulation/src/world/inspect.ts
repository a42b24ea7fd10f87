import type { ManualPerformer } from "@tidemark/executor/testing";
import type { AcceptedCommit, Seq, SpaceId } from "@tidemark/protocol";
import type { NamedEvent } from "./client.js";
import { BEFORE_ALL, type StoreObserver } from "./observer.js";
import type { Place } from "./places.js";
import type { ServerProcess } from "./process.js";

/** How often an event's handler has completed with its consequences committed, by what the store holds. */
export function completedRuns(observer: StoreObserver, event: NamedEvent): number {
  const naming = observer
    .commitsSince(BEFORE_ALL)
    .filter(({ consequenceOf }) => consequenceOf?.includes(event.eventId));
  const waves = naming.filter((commit, at) => !isSplitOf(naming[at - 1], commit));
  return waves.filter(({ seq }) => isSuccess(observer, event, seq)).length;
}

/** The splits of one wave follow each other and name the same events (seed 001 §3). */
function isSplitOf(before: AcceptedCommit | undefined, commit: AcceptedCommit): boolean {
  return (
    before !== undefined &&
    commit.seq === before.seq + 1 &&
    before.watermark === undefined &&
    commit.derivedThrough === before.derivedThrough &&
    commit.consequenceOf?.join(" ") === before.consequenceOf?.join(" ")
  );
}

/** An error, a refusal and a drop are consequences and no runs. */
function isSuccess(observer: StoreObserver, event: NamedEvent, seq: Seq): boolean {
  const entries = observer
    .entries(event.stream, event.eventId)
    .filter((entry) => entry.consequenced && entry.duplicate !== true && entry.seq <= seq);
  return entries.length === 0 || entries.some((entry) => entry.status === undefined);
}

/** Figures that say what is held now: a dead process holds nothing. */
const HELD_NOW: ReadonlySet<string> = new Set([
  "parkedRuntimes.held",
  "lease.held",
  "memo.inflight",
]);

/** A counter of seed 001 §7 by its dotted name, summed over the processes there have been. */
export function sumCounter(
  processes: readonly ServerProcess[],
  space: SpaceId,
  name: string,
): number | undefined {
  let sum: number | undefined;
  for (const { host, alive } of processes) {
    if (!host) continue;
    if (!alive && HELD_NOW.has(name)) {
      sum ??= 0;
      continue;
    }
    const value = name.split(".").reduce<unknown>(step, {
      ...host.spaceStats(space),
      push: host.stats().push,
    });
    if (typeof value === "number") sum = (sum ?? 0) + value;
  }
  return sum;
}

/** Who waits for an answer to a request of an effect, in running processes: a performer a request, oldest first. */
export function outstanding(
  processes: readonly ServerProcess[],
  { space, key }: Pick<Place, "space" | "key">,
): readonly ManualPerformer[] {
  return processes.flatMap(({ alive, performer }) =>
    performer
      .outstanding(key)
      .filter((call) => alive && call.space === space)
      .map(() => performer),
  );
}

/** Answers that have come to running processes and have not landed. */
export function landingAnswers(processes: readonly ServerProcess[], space: SpaceId): number {
  const running = processes.filter(({ alive }) => alive);
  return sumCounter(running, space, "outbox.landing") ?? 0;
}

function step(value: unknown, key: string): unknown {
  return value !== null && typeof value === "object" && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
