/** The push counters of seed 001 §7. */
export interface PushStats {
  /** Sessions evaluated first, in flushes that had both groups. */
  readonly prioritizedSessions: number;
  /** Sessions evaluated after them, in those flushes. */
  readonly followerSessions: number;
  /** Flushes that had sessions of both groups. */
  readonly mixedFlushes: number;
  readonly flushes: number;
  readonly frames: number;
  readonly resyncs: number;
  /** Connections cut off because they did not read. */
  readonly cutOff: number;
  /** Attempts that a gate or a store failed and that were repeated. */
  readonly failures: number;
  /** Watch roots walked, first walks included. */
  readonly walks: number;
}

/** What a memory server counts. */
export interface ServerCounts {
  readonly messages: number;
  readonly authored: number;
  readonly appends: number;
  /** Requests that were answered with the verdict of an earlier, identical one. */
  readonly replays: number;
  readonly derived: number;
  /** Transactions of the intake: many requests may share one. */
  readonly groups: number;
  /** Refusals by error code. */
  readonly refused: Readonly<Record<string, number>>;
  readonly push: PushStats;
}

/** What a memory server counts and what it holds. */
export interface MemoryServerStats extends ServerCounts {
  readonly connections: number;
  readonly sessions: number;
  readonly liveSessions: number;
  readonly openSpaces: number;
  /** Sessions by open space. */
  readonly channels: number;
  /** Instances that some session tracks. */
  readonly tracked: number;
  /** Events whose senders wait for the end. */
  readonly waitingSenders: number;
  readonly timers: number;
}

type Counter =
  | "messages"
  | "authored"
  | "appends"
  | "replays"
  | "derived"
  | "groups"
  | keyof PushStats;

/** Counters of one server. Tests and health routes read them; nothing decides by them. */
export class ServerCounters {
  readonly #counts = new Map<Counter, number>();
  readonly #refused = new Map<string, number>();

  add(counter: Counter, by = 1): void {
    this.#counts.set(counter, this.get(counter) + by);
  }

  get(counter: Counter): number {
    return this.#counts.get(counter) ?? 0;
  }

  refuse(code: string): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  snapshot(): ServerCounts {
    return {
      messages: this.get("messages"),
      authored: this.get("authored"),
      appends: this.get("appends"),
      replays: this.get("replays"),
      derived: this.get("derived"),
      groups: this.get("groups"),
      refused: Object.fromEntries(this.#refused),
      push: this.#push(),
    };
  }

  #push(): PushStats {
    return {
      prioritizedSessions: this.get("prioritizedSessions"),
      followerSessions: this.get("followerSessions"),
      mixedFlushes: this.get("mixedFlushes"),
      flushes: this.get("flushes"),
      frames: this.get("frames"),
      resyncs: this.get("resyncs"),
      cutOff: this.get("cutOff"),
      failures: this.get("failures"),
      walks: this.get("walks"),
    };
  }
}
