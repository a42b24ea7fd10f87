import type { FiredEvent } from "@tidemark/client";
import { type Seq, seededRandom, systemClock, type Transport } from "@tidemark/protocol";
import { Course, type ReplayProgress } from "./course.js";
import { inFlight } from "./in-flight.js";
import type { MemorySample } from "./memory.js";
import { author, companion, type Person, type Place, shown } from "./people.js";
import { ReplayServer } from "./server.js";
import { Wires } from "./wires.js";
import type { Trace } from "./trace.js";

/** How a recording is replayed. */
export interface ReplayOptions {
  readonly trace: Trace;
  /** One sends with `width` events in flight; two, with identities of their own, take turns. */
  readonly writers: 1 | 2;
  /** `kill -9`s of the server on the way. */
  readonly kills: number;
  /** Chooses where the server is killed. */
  readonly seed: number;
  /** Events of one writer alone that are not handled yet, at most. */
  readonly width?: number;
  /** How long the lease of a killed server stands in the way of the next one, ms. */
  readonly leaseTtlMs?: number;
  /** Samples of memory over the whole. */
  readonly samples?: number;
  readonly stallMs?: number;
  readonly onProgress?: (progress: ReplayProgress) => void;
}

/** What a replay came to. */
export interface ReplayResult {
  readonly events: number;
  /** After how many durable appends the server was killed. */
  readonly killedAt: readonly number[];
  /** What is wrong; empty: nothing. */
  readonly problems: readonly string[];
  /** From the first event to the last one's end, ms. */
  readonly ms: number;
  /** Of that, the time in which no server listened. */
  readonly downMs: number;
  readonly serverCpuMs: number;
  readonly clientCpuMs: number;
  readonly memory: readonly MemorySample[];
}

const WIDTH = 64;
const LEASE_TTL_MS = 2_000;
const SAMPLES = 30;
/** A collection costs as much as many events. */
const SAMPLE_EVERY_AT_LEAST = 250;
const STALL_MS = 60_000;

/**
 * Replays a recording as events over WebSocket into a text of a real toolshed process, one event per transaction, and
 * holds the end against what was recorded, as a reader sees it that was not there before and as the writers see it.
 *
 * @throws Error where the server does not start, ends by itself, or nothing moves any more.
 */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const server = await ReplayServer.start(options.leaseTtlMs ?? LEASE_TTL_MS);
  const abandon = (): void => server.abandon();
  process.once("exit", abandon);
  try {
    return await replayOn(server, options);
  } finally {
    process.off("exit", abandon);
    await server.stop();
  }
}

/** As {@link replay}, on a server that others use too, before or after. It stays up. */
export async function replayOn(
  server: ReplayServer,
  options: Omit<ReplayOptions, "leaseTtlMs">,
): Promise<ReplayResult> {
  const { trace, kills, seed, samples = SAMPLES, stallMs = STALL_MS } = options;
  const { txns, endContent } = trace;
  const total = txns.length;
  const problems: string[] = [];
  const onError = (error: unknown): void => void problems.push(`a client reports: ${error}`);
  const wires = new Wires();
  const transport = wires.transport(() => server.socketUrl);
  const { person, place } = await author(transport, onError);
  const people =
    options.writers === 1 ? [person] : [person, await companion(transport, place, onError)];
  const killsAt = killPoints(seed, kills, total);
  const course = new Course({
    server,
    wires,
    total,
    killsAt,
    sampleEvery: Math.max(SAMPLE_EVERY_AT_LEAST, Math.floor(total / samples)),
    stallMs,
    onProgress: options.onProgress ?? (() => undefined),
  });
  const start = systemClock.monotonic();
  const cpu = process.cpuUsage();
  try {
    const writing = new Writing(course, trace, problems);
    const width = options.width ?? WIDTH;
    const written = people.length === 1 ? writing.alone(person, width) : writing.inTurns(people);
    await Promise.race([written, course.failed]);
    const ms = systemClock.monotonic() - start;
    const { user, system } = process.cpuUsage(cpu);
    await Promise.race([course.end(), course.failed]);
    const end = { text: endContent, applied: total, seq: writing.last };
    problems.push(...(await compare(transport, place, people, end)));
    const { cpuMs: serverCpuMs } = await server.usage();
    return {
      events: total,
      killedAt: killsAt,
      problems,
      ms,
      downMs: course.downMs,
      serverCpuMs,
      clientCpuMs: (user + system) / 1_000,
      memory: course.samples,
    };
  } finally {
    for (const { client } of people) client.drop();
    await course.end();
  }
}

/** The writing side: events go out, and their ends are counted. */
class Writing {
  readonly #course: Course;
  readonly #trace: Trace;
  readonly #problems: string[];
  last = 0 as Seq;

  constructor(course: Course, trace: Trace, problems: string[]) {
    this.#course = course;
    this.#trace = trace;
    this.#problems = problems;
  }

  alone(person: Person, width: number): Promise<void> {
    return inFlight(this.#trace.txns.length, width, (i) => this.#end(i, this.#fire(person, i)));
  }

  /** A turn ends when its append is durable; its handling may still be under way. */
  async inTurns(people: readonly Person[]): Promise<void> {
    const ends: Promise<void>[] = [];
    for (let i = 0; i < this.#trace.txns.length; i += 1) {
      const fired = this.#fire(people[i % people.length] as Person, i);
      ends.push(this.#end(i, fired));
      await fired.appended;
    }
    await Promise.all(ends);
  }

  #fire({ piece }: Person, i: number): FiredEvent {
    const fired = piece.fire("edit", this.#trace.txns[i]?.patches ?? []);
    this.#course.fired();
    void fired.appended.then(
      ({ seq }) => {
        if (seq !== undefined && seq > this.last) this.last = seq;
        this.#course.durable();
      },
      () => undefined,
    );
    return fired;
  }

  async #end(i: number, fired: FiredEvent): Promise<void> {
    const outcome = await fired.settled;
    if (outcome.kind !== "consequenced") {
      this.#problems.push(`event ${i} (${fired.eventId}) ended ${outcome.kind}: ${outcome.error}`);
    }
    this.#course.handled();
  }
}

/** Random points, none at the very ends, each its own. */
export function killPoints(seed: number, kills: number, total: number): readonly number[] {
  const random = seededRandom(seed);
  const points = new Set<number>();
  while (points.size < Math.min(kills, total - 1)) {
    points.add(1 + Math.floor(random.next() * (total - 1)));
  }
  return [...points].sort((a, b) => a - b);
}

interface End {
  readonly text: string;
  readonly applied: number;
  readonly seq: Seq;
}

/** Differences between what was to come out and what people see once all is settled. */
async function compare(
  transport: Transport,
  place: Place,
  writers: readonly Person[],
  end: End,
): Promise<readonly string[]> {
  const reader = await companion(transport, place, () => undefined);
  const views = [
    { who: "a reader who came later", person: reader },
    ...writers.map((person, i) => ({ who: `writer ${i + 1}`, person })),
  ];
  const problems: string[] = [];
  for (const { who, person } of views) {
    await person.space.waitForSettled(end.seq);
    const text = (await shown(person.piece.get("text"))) ?? "";
    const applied = await shown(person.piece.get("applied"));
    if (text !== end.text)
      problems.push(`${who} sees another text: ${firstDifference(text, end.text)}`);
    if (applied !== end.applied) {
      problems.push(`${who} sees ${applied} events applied, not ${end.applied}`);
    }
  }
  await reader.client.close();
  return problems;
}

const AROUND = 20;

/** Where two texts part, with some of each from there on. */
export function firstDifference(seen: string, expected: string): string {
  let at = 0;
  while (at < seen.length && seen[at] === expected[at]) at += 1;
  const some = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - AROUND), at + AROUND));
  return `at ${at} ${some(seen)} in place of ${some(expected)} (${seen.length} characters, not ${expected.length})`;
}
