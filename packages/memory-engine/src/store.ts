import {
  HistoryHorizonError,
  isJsonObject,
  SPACE_SCOPE_KEY,
  WATERMARK_DOC,
  type Clock,
  type JsonValue,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { Basis } from "./basis/basis.js";
import { Branches, type BranchRow } from "./branch/branches.js";
import { Actors } from "./commit/actors.js";
import { Replays } from "./commit/replays.js";
import { Extensions } from "./extension/extensions.js";
import type { StoreExtension } from "./extension/extension.js";
import { Lease } from "./lease/lease.js";
import { readMeta, writeMeta } from "./migrations/migrate.js";
import { PieceIndex } from "./piece/piece-index.js";
import { Documents } from "./read/documents.js";
import type { SqlDriver } from "./sqlite/driver.js";
import { prepareLazily } from "./sqlite/statement.js";
import { CORE } from "./sqlite/statements.js";
import { Entries } from "./stream/entries.js";

/**
 * The parts of one open store and what they remember together. Nothing remembered outlives
 * another process's commit: every entry point calls {@link Store.refresh} first (R19).
 */
export class Store {
  readonly driver: SqlDriver;
  readonly space: SpaceId;
  readonly clock: Clock;
  readonly q;
  readonly documents: Documents;
  readonly actors: Actors;
  readonly entries: Entries;
  readonly replays: Replays;
  readonly branches: Branches;
  readonly lease: Lease;
  readonly basis: Basis;
  readonly pieces: PieceIndex;
  readonly extensions: Extensions;
  /** True inside a transaction or view: there, nobody else can commit. */
  pinned = false;
  #seenVersion: number | undefined;
  #head: Seq | undefined;
  #horizon: Seq | undefined;

  constructor(options: {
    readonly driver: SqlDriver;
    readonly space: SpaceId;
    readonly clock: Clock;
    readonly cacheBytes: number;
    readonly extensions: readonly StoreExtension[];
  }) {
    const { driver } = options;
    this.driver = driver;
    this.space = options.space;
    this.clock = options.clock;
    this.q = prepareLazily(driver, CORE);
    this.documents = new Documents(driver, options.cacheBytes);
    this.actors = new Actors(driver);
    this.entries = new Entries(driver, this.actors, () => this.refresh());
    this.replays = new Replays(driver);
    this.branches = new Branches(driver);
    this.lease = new Lease(driver, options.space, options.clock);
    this.basis = new Basis(driver, options.space);
    this.pieces = new PieceIndex(driver);
    this.extensions = new Extensions(driver, options.extensions);
  }

  /** Drops everything remembered if another connection has committed since. */
  refresh(): void {
    if (this.pinned) return;
    const version = this.dataVersion();
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.forget();
  }

  /** Also after a rollback: what was remembered may never have been stored. */
  forget(): void {
    this.#head = undefined;
    this.#horizon = undefined;
    this.documents.forget();
    this.actors.forget();
    this.entries.forget();
    this.replays.forget();
    this.branches.forget();
  }

  dataVersion(): number {
    return this.driver.dataVersion?.() ?? 0;
  }

  /** Runs `fn` in a transaction in which what is remembered is known to be current. */
  pin<T>(mode: "immediate" | "deferred", fn: () => T): T {
    return this.driver.transaction(() => {
      this.refresh();
      this.pinned = true;
      try {
        return fn();
      } finally {
        this.pinned = false;
      }
    }, mode);
  }

  head(): Seq {
    this.refresh();
    this.#head ??= (this.q.maxSeq.get()?.seq ?? 0) as Seq;
    return this.#head;
  }

  /** After a commit of this connection. */
  advanceHead(seq: Seq): void {
    this.#head = seq;
  }

  horizon(): Seq {
    this.refresh();
    this.#horizon ??= Number(readMeta(this.driver, "horizon") ?? "0") as Seq;
    return this.#horizon;
  }

  setHorizon(seq: Seq): void {
    writeMeta(this.driver, "horizon", String(seq));
    this.#horizon = seq;
  }

  /** @throws HistoryHorizonError */
  requireReadable(seq: Seq): void {
    const horizon = this.horizon();
    if (seq >= horizon) return;
    throw new HistoryHorizonError(
      `seq ${seq} of ${this.space} is pruned: the oldest seq that can be read is ${horizon}`,
      { requested: seq, horizon },
    );
  }

  watermark(main: BranchRow): Seq {
    this.refresh();
    const state = this.documents.state(main, WATERMARK_DOC, SPACE_SCOPE_KEY);
    return watermarkOf(this.documents.value(state));
  }
}

/** What the watermark document holds (protocol.md §5). */
export function watermarkValue(seq: Seq): JsonValue {
  return { seq };
}

/** The seq in a watermark document; 0 for none. */
export function watermarkOf(value: JsonValue | undefined): Seq {
  if (value === undefined || !isJsonObject(value)) return 0 as Seq;
  const seq = value["seq"];
  return (typeof seq === "number" ? seq : 0) as Seq;
}
