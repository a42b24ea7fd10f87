import {
  assert,
  MAIN_BRANCH,
  SPACE_SCOPE_KEY,
  StorageError,
  type BranchName,
  type DocId,
  type Held,
  type HolderId,
  type ScopeKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { branchTable, type BranchRow } from "./branch/branches.js";
import { Transaction } from "./commit/transaction.js";
import { compactStreams } from "./compaction/compact.js";
import {
  DEFAULT_COMPACTION_POLICY,
  DEFAULT_PRUNE_POLICY,
  type CompactionPolicy,
  type CompactionResult,
  type PrunePolicy,
  type PruneResult,
} from "./compaction/policy.js";
import { pruneHistory } from "./compaction/prune.js";
import type {
  BasisTable,
  BranchTable,
  Engine,
  EngineOptions,
  EngineTx,
  EntryTable,
  HistoryOptions,
  LeaseTable,
  ListedDocument,
  ListOptions,
  ReadOptions,
  ReplayKey,
  ReplayVerdict,
  Revision,
} from "./engine-types.js";
import { migrate, mintHistoryId, writeMeta } from "./migrations/migrate.js";
import { className } from "./read/document-state.js";
import { commitsSince } from "./read/feed.js";
import { historyOf } from "./read/history.js";
import { listByPrefix } from "./read/list.js";
import { WriteGroup } from "./commit/group.js";
import type { CheckpointMode, CheckpointResult } from "./sqlite/driver.js";
import { lastPosOf, seqOfPos } from "./sqlite/tables.js";
import { Store } from "./store.js";

const DEFAULT_CACHE_BYTES = 16 * 1024 * 1024;

/** What a driver that checkpoints by itself answers. */
const NO_WAL: CheckpointResult = { busy: false, walFrames: -1, checkpointedFrames: -1 };

/**
 * Opens the store of a space: sets up an empty one, migrates an older one, and refuses, untouched,
 * what is newer, another space's, no store, or unsound. The driver is closed on refusal.
 *
 * @throws StorageError
 */
export function openEngine(options: EngineOptions): Engine {
  const { driver, space, random } = options;
  try {
    if (options.durability !== undefined) driver.setDurability?.(options.durability);
    if (driver.endedUncleanly === true) requireSound(options);
    const store = new Store({
      driver,
      space,
      clock: options.storeClock,
      cacheBytes: options.cacheBytes ?? DEFAULT_CACHE_BYTES,
      extensions: options.extensions ?? [],
    });
    const { historyId } = migrate(driver, {
      space,
      random,
      rebuildPieceIndex: () => rebuildPieceIndex(store),
    });
    store.extensions.migrate();
    return new SqliteEngine(store, historyId, () => mintHistoryId(random));
  } catch (error) {
    driver.close();
    throw error;
  }
}

function requireSound({ driver, space }: EngineOptions): void {
  const problems = driver.checkIntegrity?.() ?? [];
  if (problems.length === 0) return;
  throw new StorageError(
    `the store of ${space} did not end in order and is damaged: ${problems.slice(0, 3).join("; ")}`,
    { kind: "corrupt" },
  );
}

function rebuildPieceIndex(store: Store): void {
  const main = store.branches.get(MAIN_BRANCH);
  for (const { id } of listByPrefix(store, "piece:", SPACE_SCOPE_KEY, {})) {
    const state = store.documents.state(main, id, SPACE_SCOPE_KEY);
    store.pieces.update(id, store.documents.value(state));
  }
}

class SqliteEngine implements Engine {
  readonly space: SpaceId;
  readonly lease: LeaseTable;
  readonly entries: EntryTable;
  readonly basis: BasisTable;
  readonly branches: BranchTable;
  readonly #store: Store;
  readonly #group: WriteGroup;
  readonly #mintHistoryId: () => string;
  #historyId: string;

  constructor(store: Store, historyId: string, mintId: () => string) {
    this.#store = store;
    this.#historyId = historyId;
    this.#mintHistoryId = mintId;
    this.#group = new WriteGroup(store);
    this.space = store.space;
    this.lease = store.lease;
    this.entries = store.entries;
    this.basis = store.basis;
    this.branches = branchTable({
      branches: store.branches,
      clock: store.clock,
      head: () => store.head(),
      horizon: () => store.horizon(),
      write: (fn) => this.#group.write(fn),
    });
  }

  get historyId(): string {
    return this.#historyId;
  }

  head(): Seq {
    return this.#store.head();
  }

  watermark(): Seq {
    return this.#store.watermark(this.#branch());
  }

  horizon(): Seq {
    return this.#store.horizon();
  }

  read(id: DocId, scopeKey: ScopeKey, options?: ReadOptions): Held {
    const store = this.#store;
    store.refresh();
    const branch = this.#branch(options?.branch);
    let state = store.documents.state(branch, id, scopeKey);
    const at = options?.at;
    if (at !== undefined) store.requireReadable(at);
    if (at !== undefined && seqOfPos(state.pos) > at) {
      state = store.documents.stateAt(branch, id, scopeKey, lastPosOf(at));
    }
    const value = store.documents.value(state);
    if (state.pos === 0) return { value, seq: 0 as Seq };
    return { value, seq: seqOfPos(state.pos) as Seq, coverClass: className(state.class) };
  }

  history(id: DocId, scopeKey: ScopeKey, options: HistoryOptions = {}): readonly Revision[] {
    this.#store.refresh();
    return historyOf(this.#store, this.#branch(options.branch), id, scopeKey, options);
  }

  listByPrefix(
    prefix: string,
    scopeKey: ScopeKey,
    options: ListOptions = {},
  ): readonly ListedDocument[] {
    return listByPrefix(this.#store, prefix, scopeKey, options);
  }

  pieceOf(nodeId: DocId): DocId | undefined {
    return this.#store.pieces.pieceOf(nodeId);
  }

  commitsSince(after: Seq, limit?: number): ReturnType<Engine["commitsSince"]> {
    return this.view(() => commitsSince(this.#store, after, limit));
  }

  replay(key: ReplayKey): ReplayVerdict | undefined {
    this.#store.refresh();
    return this.#store.replays.find(key);
  }

  transact<T>(fn: (tx: EngineTx) => T, options?: { readonly branch?: BranchName }): T {
    return this.#group.commit((beforeWrite) => {
      const branch = this.#branch(options?.branch);
      const tx = new Transaction(this.#store, branch, beforeWrite);
      try {
        return fn(tx);
      } finally {
        tx.close();
      }
    });
  }

  batch<T>(fn: () => T): T {
    return this.#group.batch(fn);
  }

  view<T>(fn: () => T): T {
    return this.#store.pinned ? fn() : this.#store.pin("deferred", fn);
  }

  compact(policy: Partial<CompactionPolicy> = {}, holder?: HolderId): CompactionResult {
    const full = { ...DEFAULT_COMPACTION_POLICY, ...policy };
    return this.#maintain(holder, () => compactStreams(this.#store, full));
  }

  prune(policy: Partial<PrunePolicy> = {}, holder?: HolderId): PruneResult {
    const full = { ...DEFAULT_PRUNE_POLICY, ...policy };
    return this.#maintain(holder, () => pruneHistory(this.#store, full));
  }

  checkpoint(mode: CheckpointMode = "passive"): CheckpointResult {
    return this.#store.driver.checkpoint?.(mode) ?? NO_WAL;
  }

  dataVersion(): number {
    return this.#store.dataVersion();
  }

  restartHistory(): string {
    const historyId = this.#mintHistoryId();
    this.#group.write(() => writeMeta(this.#store.driver, "history", historyId));
    this.#historyId = historyId;
    return historyId;
  }

  close(): void {
    assert(!this.#store.pinned, "a store is not closed inside a transaction");
    this.#store.driver.close();
  }

  #branch(name: BranchName = MAIN_BRANCH): BranchRow {
    return this.#store.branches.get(name);
  }

  /** Whoever serves writes only under its own live lease, upkeep included (field fault LS-02). */
  #maintain<T>(holder: HolderId | undefined, fn: () => T): T {
    return this.#group.write(() => {
      if (holder !== undefined) this.#store.lease.require(holder);
      return fn();
    });
  }
}
