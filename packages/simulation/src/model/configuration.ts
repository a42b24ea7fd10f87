/** A small world for the exploration: what may happen in it, and how often. */
export interface Configuration {
  readonly name: string;
  readonly processes: readonly string[];
  /** Appends that clients make, in this order; a repeated id is a resend. */
  readonly appends: readonly { readonly stream: string; readonly event: string }[];
  /** Authored writes that race the handlers of one stream. */
  readonly writes: readonly string[];
  /** Events whose handler throws. */
  readonly throws?: readonly string[];
  /** Events that nothing can run. */
  readonly unhandled?: readonly string[];
  /** What the handler of an event sends on. */
  readonly cascades?: Readonly<Record<string, { readonly stream: string; readonly event: string }>>;
  /** How often time may pass by one unit, and how many of them a lease lasts. */
  readonly ticks: number;
  readonly ttl: number;
  /** Time passes also while every process is well: renewals come late. */
  readonly late?: true;
  readonly crashes?: number;
  readonly suspensions?: number;
  readonly thefts?: number;
  readonly aborts?: number;
  readonly parks?: number;
  readonly compactions?: number;
  readonly giveBacks?: number;
  /** How often the flush deadline may cut a cycle. */
  readonly cuts?: number;
  /** Everything is appended before anybody serves. */
  readonly early?: true;
}

/** What of a configuration is left to happen. */
export interface Budget {
  readonly appended: number;
  readonly written: number;
  readonly ticks: number;
  readonly crashes: number;
  readonly suspensions: number;
  readonly thefts: number;
  readonly aborts: number;
  readonly parks: number;
  readonly compactions: number;
  readonly giveBacks: number;
  readonly cuts: number;
}

export function budgetOf(configuration: Configuration): Budget {
  const { ticks, crashes = 0, suspensions = 0, thefts = 0, aborts = 0 } = configuration;
  const { parks = 0, compactions = 0, giveBacks = 0, cuts = 0 } = configuration;
  return {
    appended: 0,
    written: 0,
    ticks,
    crashes,
    suspensions,
    thefts,
    aborts,
    parks,
    compactions,
    giveBacks,
    cuts,
  };
}

const THREE = [
  { stream: "x", event: "e1" },
  { stream: "y", event: "e2" },
  { stream: "x", event: "e3" },
] as const;
const ONE = THREE.slice(0, 1);
const TWO = THREE.slice(0, 2);
const STILL = { ticks: 0, ttl: 2 } as const;

/** Small enough to be explored whole at every test run, and together enough to meet every step and every fault. */
export const CONFIGURATIONS: readonly Configuration[] = [
  { name: "a race in a wave", processes: ["p"], appends: TWO, writes: ["x"], ...STILL },
  {
    name: "a race, and a later event of its stream",
    processes: ["p"],
    appends: [
      { stream: "x", event: "e1" },
      { stream: "x", event: "e3" },
    ],
    writes: ["x"],
    ...STILL,
  },
  {
    name: "a race among three",
    processes: ["p"],
    appends: THREE,
    writes: ["x"],
    ...STILL,
    early: true,
  },
  {
    name: "cycles that the deadline cuts",
    processes: ["p"],
    appends: TWO,
    writes: ["x"],
    ...STILL,
    cuts: 1,
  },
  {
    name: "a wave that fails",
    processes: ["p"],
    appends: ONE,
    writes: ["x"],
    ...STILL,
    aborts: 1,
    parks: 1,
  },
  {
    name: "a crash and a successor",
    processes: ["p", "q"],
    appends: ONE,
    writes: [],
    ticks: 2,
    ttl: 2,
    crashes: 1,
  },
  {
    name: "a suspension and a rival",
    processes: ["p", "q"],
    appends: ONE,
    writes: [],
    ticks: 2,
    ttl: 2,
    suspensions: 1,
  },
  {
    name: "renewals that come late, and a rival",
    processes: ["p", "q"],
    appends: ONE,
    writes: [],
    ticks: 2,
    ttl: 2,
    late: true,
  },
  {
    name: "a stolen row",
    processes: ["p"],
    appends: ONE,
    writes: ["x"],
    ticks: 2,
    ttl: 2,
    late: true,
    thefts: 1,
  },
  {
    name: "resends, errors and compaction",
    processes: ["p"],
    appends: [
      { stream: "x", event: "e1" },
      { stream: "x", event: "e1" },
      { stream: "y", event: "boom" },
    ],
    writes: [],
    throws: ["boom"],
    ...STILL,
    compactions: 1,
  },
  {
    name: "what nothing runs",
    processes: ["p"],
    appends: [
      { stream: "x", event: "gone" },
      { stream: "y", event: "e2" },
    ],
    writes: [],
    unhandled: ["gone"],
    ...STILL,
    giveBacks: 1,
  },
  {
    name: "a cascade that a race takes back",
    processes: ["p"],
    appends: ONE,
    writes: ["x"],
    cascades: { e1: { stream: "y", event: "s" } },
    ...STILL,
    cuts: 1,
  },
  {
    name: "a cascade into a stream that waits",
    processes: ["p"],
    appends: TWO,
    writes: [],
    cascades: { e1: { stream: "y", event: "s" } },
    ...STILL,
    cuts: 1,
    compactions: 1,
  },
  {
    name: "a cascade that is cut off",
    processes: ["p"],
    appends: ONE,
    writes: [],
    cascades: { e1: { stream: "y", event: "s" } },
    ...STILL,
    crashes: 1,
    suspensions: 1,
  },
];

/** Everything at once: two processes, two streams, three events, an intruding write, and each fault once. For long runs. */
export const WIDE: readonly Configuration[] = [
  {
    name: "wide: a crash",
    processes: ["p", "q"],
    appends: THREE,
    writes: ["x"],
    ticks: 2,
    ttl: 2,
    crashes: 1,
  },
  {
    name: "wide: a suspension",
    processes: ["p", "q"],
    appends: THREE,
    writes: ["x"],
    ticks: 2,
    ttl: 2,
    suspensions: 1,
  },
];
