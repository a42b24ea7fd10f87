import { spreadOf, type Spread, warm } from "./memory.js";
import type { ReplayResult } from "./replay.js";

const MB = 1_048_576;
/** Half the distance that memory may stray by once processes are warm, MB. */
export const FLAT_WITHIN_MB = 30;

/** What a replay came to, for machines. */
export interface ReplayReport {
  readonly name: string;
  readonly passed: boolean;
  readonly problems: readonly string[];
  readonly events: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
  readonly killedAt: readonly number[];
  readonly downSeconds: number;
  readonly serverCpuSeconds: number;
  readonly clientCpuSeconds: number;
  /** MB over warm processes; null where the replay was too short to tell. */
  readonly serverHeapMb: Spread | null;
  readonly serverRssMb: Spread | null;
  readonly clientHeapMb: Spread | null;
}

/** Judges and rounds. */
export function reportOf(name: string, result: ReplayResult): ReplayReport {
  const samples = warm(result.memory);
  const serverHeapMb = inMb(samples.map(({ server }) => server.heapBytes));
  const clientHeapMb = inMb(samples.flatMap(({ clientHeapBytes }) => clientHeapBytes ?? []));
  const problems = [
    ...result.problems,
    ...straying("the server's heap", serverHeapMb),
    ...straying("the clients' heap", clientHeapMb),
  ];
  return {
    name,
    passed: problems.length === 0,
    problems,
    events: result.events,
    seconds: tenths(result.ms / 1_000),
    eventsPerSecond: Math.round((result.events * 1_000) / result.ms),
    killedAt: result.killedAt,
    downSeconds: tenths(result.downMs / 1_000),
    serverCpuSeconds: tenths(result.serverCpuMs / 1_000),
    clientCpuSeconds: tenths(result.clientCpuMs / 1_000),
    serverHeapMb,
    serverRssMb: inMb(samples.map(({ server }) => server.rssBytes)),
    clientHeapMb,
  };
}

/** What a replay came to, for people. */
export function linesOf(report: ReplayReport): readonly string[] {
  const { passed, name, events, seconds, eventsPerSecond, killedAt, downSeconds } = report;
  const kills =
    killedAt.length === 0
      ? "never killed"
      : `killed after ${killedAt.join(", ")} (${downSeconds} s without a server)`;
  return [
    `${passed ? "ok  " : "FAIL"} ${name}: ${events} events in ${seconds} s (${eventsPerSecond}/s), ${kills}`,
    ...report.problems.map((problem) => `     ${problem}`),
    `     processor: server ${report.serverCpuSeconds} s, clients ${report.clientCpuSeconds} s`,
    `     memory once warm: server heap ${words(report.serverHeapMb)}, resident ${words(report.serverRssMb)}; clients heap ${words(report.clientHeapMb)}`,
  ];
}

function straying(what: string, spread: Spread | null): readonly string[] {
  if (spread === null || spread.half <= FLAT_WITHIN_MB) return [];
  return [`${what} strays by ± ${spread.half} MB, more than ${FLAT_WITHIN_MB}: ${words(spread)}`];
}

function words(spread: Spread | null): string {
  if (spread === null) return "not told by so short a replay";
  return `${spread.least}–${spread.most} MB (± ${spread.half})`;
}

function inMb(bytes: readonly number[]): Spread | null {
  const spread = spreadOf(bytes);
  if (spread === undefined) return null;
  const [half, least, most] = [spread.half, spread.least, spread.most].map((n) => tenths(n / MB));
  return { half: half ?? 0, least: least ?? 0, most: most ?? 0 };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
