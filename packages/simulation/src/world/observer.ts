import {
  type CompactionPolicy,
  type Engine,
  type LeaseRow,
  openBetterSqlite3,
  openEngine,
  type SqlDriver,
  storeFileOf,
} from "@tidemark/memory-engine";
import {
  type AcceptedCommit,
  type Clock,
  type DocId,
  type EventId,
  type Held,
  type HolderId,
  type Random,
  type ScopeKey,
  type Seq,
  seq as toSeq,
  type SpaceId,
  type StreamEntry,
} from "@tidemark/protocol";

/** Reads a space's store over a connection of its own: what it sees is what is durable. */
export class StoreObserver {
  /** For whoever watches what is done through it; it commits nothing. */
  readonly engine: Engine;
  readonly #driver: SqlDriver;

  constructor(dir: string, space: SpaceId, storeClock: Clock, random: Random) {
    this.#driver = openBetterSqlite3({ path: storeFileOf(dir, space) });
    this.engine = openEngine({ driver: this.#driver, space, storeClock, random });
  }

  read(id: DocId, scopeKey: ScopeKey): Held {
    return this.engine.read(id, scopeKey);
  }

  head(): Seq {
    return this.engine.head();
  }

  watermark(): Seq {
    return this.engine.watermark();
  }

  /** Runs the compaction of streams, as the loop does at quiet moments. */
  compact(policy: Partial<CompactionPolicy>): void {
    this.engine.compact(policy);
  }

  /** Every commit above `seq`, in order. */
  commitsSince(seq: Seq): AcceptedCommit[] {
    const commits: AcceptedCommit[] = [];
    for (let from = seq; ;) {
      const page = this.engine.commitsSince(from, PAGE);
      commits.push(...page);
      const last = page[page.length - 1];
      if (!last || page.length < PAGE) return commits;
      from = last.seq;
    }
  }

  entries(stream: DocId, event: EventId): readonly StreamEntry[] {
    return this.engine.entries.byEvent(stream, event);
  }

  /** `eventWatermark` of a stream. */
  frontier(stream: DocId): Seq {
    return this.engine.entries.frontier(stream);
  }

  /** The lease row as it stands. */
  leaseRow(): LeaseRow | undefined {
    return this.engine.lease.current();
  }

  /** Writes the lease row over, whoever holds it: as no process may. */
  writeLease(holder: HolderId, expiresAt: number): void {
    this.#driver
      .prepare(
        "INSERT OR REPLACE INTO execution_lease (space, holder, expires_at) VALUES (?, ?, ?)",
      )
      .run(this.engine.space, holder, expiresAt);
  }

  countRows(table: string): number {
    if (!/^\w+$/u.test(table)) throw new Error(`"${table}" is no table's name`);
    const row = this.#driver.prepare(`SELECT count(*) AS rows FROM "${table}"`).get();
    return (row as { readonly rows: number }).rows;
  }

  close(): void {
    this.engine.close();
  }
}

const PAGE = 1_000;
/** Before every commit. */
export const BEFORE_ALL: Seq = toSeq(0);
