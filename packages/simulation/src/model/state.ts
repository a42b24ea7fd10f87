/**
 * What the model of wave, lease and event drain is made of: plain data, one space. Times are whatever unit the caller
 * counts in; positions order the entries of a space by arrival, whatever their streams.
 */

/** Place of an entry in the space's order of arrival. */
export type Pos = number;

/** How an entry ended (R33); a duplicate was passed over for an earlier entry of its id (R1). */
export type End = "consequence" | "error" | "dropped" | "duplicate";

/** One entry of a stream. */
export interface Entry {
  readonly pos: Pos;
  readonly seq: number;
  readonly stream: string;
  readonly event: string;
  readonly end?: End;
  /** The seq of the commit that ended it. */
  readonly endedAt?: number;
  /** A race took its consequence back once: what came later may have passed it (R16). */
  readonly raced?: true;
  /** Its handler asks for changes of the access list. */
  readonly asks?: true;
  /** The commit that changed the access list for it: one, whatever becomes of its wave. */
  readonly grantedAt?: number;
  /** Appended by the commit of a wave, with the run that sent it. */
  readonly sent?: true;
  /** Ghost: the commits in which its effects became durable. */
  readonly effects?: readonly number[];
}

/** A commit that somebody else's wave may meet: whose it is, and what it wrote over. */
export interface Change {
  readonly seq: number;
  /** The tenure that derived it; absent for what people and the server itself commit. */
  readonly tenure?: number;
  /** It changed the access list. */
  readonly access?: true;
  /** Streams whose handlers rest on what it wrote; `*`: it may have raced any. */
  readonly races: readonly string[];
}

/** A change that no committed derivation has taken in, and the input that made it. */
export interface Underived {
  readonly seq: number;
  readonly cause: number;
  /** The tenure whose consequence it was: that one has seen it as it committed. */
  readonly tenure?: number;
}

/** The lease row (seed 001 §2). */
export interface LeaseRow {
  readonly holder: string;
  readonly until: number;
}

/** What a run, or a decision without a run, puts into a wave. */
export interface Contribution {
  readonly kind: "handling" | "error" | "dropped" | "duplicate" | "derivation";
  /** The entry that it ends; 0 for a derivation, and for a copy whose entry its own wave appends. */
  readonly pos: Pos;
  readonly event: string;
  readonly stream: string;
  /** It rests on nothing older than this. */
  readonly basis: number;
  /** Ghost: the reign under which it was made. */
  readonly reign: number;
  /** What its run sends on within the space. */
  readonly sends?: readonly Sent[];
}

/** An event that a run sends on, with the id that this attempt gave it. */
export interface Sent {
  readonly stream: string;
  readonly event: string;
}

/** An entry whose handler runs. */
export interface Running {
  readonly pos: Pos;
  readonly event: string;
  readonly stream: string;
  readonly basis: number;
  readonly reign: number;
  /** Commits of this process up to here: a later one may have taken back what the run rests on. */
  readonly since: number;
  /** The body has ended, and how. */
  readonly ended?: "ok" | "throws";
}

/** A wave that was handed to the store. */
export interface Closing {
  readonly contributions: readonly Contribution[];
  readonly proven: number;
  /** Nothing beyond it had been taken in when the wave closed. */
  readonly applied: number;
}

/** One tenure of one process: from its activation to its end. */
export interface Tenure {
  readonly id: number;
  /** Head of the store when it began. */
  readonly since: number;
  /** Its view stands no lower than this, */
  readonly seen: number;
  /** and no higher than this. */
  readonly applied: number;
  /** Drained and not begun, in order. */
  readonly queue: readonly Pos[];
  readonly running?: Running;
  readonly wave: readonly Contribution[];
  readonly closing?: Closing;
  /** An idle scheduler proved everything up to here. */
  readonly proven: number;
  /** Its commits so far, with the waves of which everything went back. */
  readonly commits: number;
  /** A commit is durable and nobody has been told. */
  readonly untold?: true;
  /** It has lost something to a lapse or a failure: it commits no more. */
  readonly over?: true;
  /** Ghost of a planted fault: it asked nobody what a predecessor left. */
  readonly blind?: true;
}

/** A server process. */
export interface Process {
  readonly life: "alive" | "suspended" | "dead";
  /** Minted at its start (DR1). */
  readonly holder: string;
  readonly lives: number;
  readonly believes: boolean;
  readonly tenure?: Tenure;
}

/** Ghost: a derived commit, and the row as it stood at that instant. */
export interface Derived {
  readonly seq: number;
  readonly holder: string;
  readonly rowHolder: string | undefined;
  readonly live: boolean;
  readonly reign: number;
  readonly made: readonly Pick<Contribution, "kind" | "stream" | "basis" | "reign">[];
  /** The tenure that made it. */
  readonly tenure: number;
}

export interface ModelState {
  readonly now: number;
  readonly head: number;
  readonly watermark: number;
  readonly entries: readonly Entry[];
  readonly frontiers: Readonly<Record<string, number>>;
  readonly changes: readonly Change[];
  /** What derivations owe; `unseen` where each commit tells it, since no derivation is observed. */
  readonly underived: readonly Underived[] | "unseen";
  /** Derived commits above W; one without content owes no advance of W (R8). */
  readonly tail: readonly { readonly seq: number; readonly content: boolean }[];
  readonly lease?: LeaseRow;
  /** Ghost: counts who held the row, without a break, one after the other. */
  readonly reign: number;
  readonly tenures: number;
  readonly processes: Readonly<Record<string, Process>>;
  /** Ghost: the last derived commit. */
  readonly derived?: Derived;
}

/** An empty store with nobody about. */
export const EMPTY: ModelState = {
  now: 0,
  head: 0,
  watermark: 0,
  entries: [],
  frontiers: {},
  changes: [],
  underived: [],
  tail: [],
  reign: 0,
  tenures: 0,
  processes: {},
};

/** Whether the row is live: it matches nobody from its end on (seed 001 §2). */
export function isLive(state: ModelState): boolean {
  return state.lease !== undefined && state.now < state.lease.until;
}

/** Whether a process holds the live row. */
export function holds(state: ModelState, process: string): boolean {
  return isLive(state) && state.lease?.holder === state.processes[process]?.holder;
}

/** Whether nobody has ended an entry yet. */
export function isPending(entry: Entry): boolean {
  return entry.end === undefined;
}

/**
 * The earlier entry of the same id that has ended and still stands: a later one is its duplicate (R1). One that was itself
 * passed over tells the first's outcome after the first has been compacted.
 */
export function consumedBefore(state: ModelState, entry: Entry): Entry | undefined {
  return state.entries.find(
    (other) =>
      other.stream === entry.stream &&
      other.event === entry.event &&
      other.pos < entry.pos &&
      other.end !== undefined,
  );
}

/** The contiguous, fully marked prefix of a stream, as a seq: entries of one seq pass together. */
export function markedPrefix(state: Pick<ModelState, "entries">, stream: string): number {
  let reached = 0;
  let last = 0;
  for (const entry of state.entries) {
    if (entry.stream !== stream) continue;
    if (entry.seq !== last) reached = last;
    if (isPending(entry)) return reached;
    last = entry.seq;
  }
  return last;
}
