import type {
  AcceptedCommit,
  ActionId,
  Actor,
  AttributedChange,
  BasisRead,
  BasisUpdate,
  BranchName,
  CapabilityRef,
  Clock,
  CommitClass,
  Conflict,
  DocId,
  EntryMark,
  EventId,
  Frontier,
  Held,
  HolderId,
  JsonValue,
  LocalSeq,
  NewEntry,
  Path,
  Principal,
  Random,
  ScopeKey,
  Seq,
  SessionId,
  SpaceId,
  StreamEntry,
  ValueOperation,
} from "@tidemark/protocol";
import type {
  CompactionPolicy,
  CompactionResult,
  PrunePolicy,
  PruneResult,
} from "./compaction/policy.js";
import type { StoreExtension } from "./extension/extension.js";
import type { CheckpointMode, CheckpointResult, Durability, SqlDriver } from "./sqlite/driver.js";

/** What {@link openEngine} needs. The engine owns the driver from then on and closes it. */
export interface EngineOptions {
  readonly driver: SqlDriver;
  readonly space: SpaceId;
  /** The store's clock: it alone judges lease liveness (seed 001 §2) and stamps commits. */
  readonly storeClock: Clock;
  readonly random: Random;
  /** `normal` (default) survives a killed process, `full` a loss of power (protocol.md §8, R34). */
  readonly durability?: Durability;
  readonly extensions?: readonly StoreExtension[];
  /** Bound of the cache of current values, in bytes of JSON text. Default 16 MiB. */
  readonly cacheBytes?: number;
}

/** Where and when to read. `at` is a point in time of the space's sequence, inclusive. */
export interface ReadOptions {
  readonly at?: Seq;
  readonly branch?: BranchName;
}

/** One stored change of one document instance. */
export interface Revision {
  readonly seq: Seq;
  /** Position among the changes of its commit. */
  readonly opIndex: number;
  readonly class: CommitClass;
  readonly op: ValueOperation;
  /** Identity of the commit; absent once its commit row was pruned. */
  readonly at?: number;
  readonly principal?: Principal;
  readonly session?: SessionId;
  readonly holder?: HolderId;
  /** Who the producing run acted as: recorded, and nothing decides from it (protocol.md §1). */
  readonly attribution?: Actor;
}

export interface HistoryOptions {
  /** Only revisions with `seq > after`. Below the horizon: HistoryHorizonError. Default: the horizon. */
  readonly after?: Seq;
  readonly limit?: number;
  readonly branch?: BranchName;
}

export interface ListOptions {
  /** Exclusive lower bound, for paging. */
  readonly after?: DocId;
  readonly limit?: number;
}

export interface ListedDocument {
  readonly id: DocId;
  readonly seq: Seq;
}

/** A confirmed read whose scope is already resolved to a key by the server. */
export interface ResolvedRead {
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
  readonly path: Path;
  readonly seq: Seq;
  readonly kind: "value" | "shape";
}

export type ResolvedPrecondition =
  | {
      readonly kind: "entity-value-hash";
      readonly id: DocId;
      readonly scopeKey: ScopeKey;
      readonly hash: string;
    }
  | { readonly kind: "create-only"; readonly id: DocId; readonly scopeKey: ScopeKey };

/** A stream entry before the commit gives it `seq` and `index`. */
export interface NewStreamEntry extends NewEntry {
  /** ms; default: the transaction's `at`. A cascade inherits its root's (R29). */
  readonly appendedAt?: number;
}

/** A basis row's input, with the seq it was computed at. */
export interface StoredBasisRead extends BasisRead {
  readonly seq: Seq;
}

export interface BasisInstance {
  readonly action: ActionId;
  readonly scopeKey: ScopeKey;
}

/** A recorded read of another space, which only that space's own store can judge. */
export interface ForeignBasisRow extends BasisInstance {
  readonly read: StoredBasisRead;
}

/** Key of a replay (R27): `localSeq` counts within one open of a session. */
export interface ReplayKey {
  readonly principal: Principal;
  readonly session: SessionId;
  readonly openNonce: string;
  readonly localSeq: LocalSeq;
}

/** The stored verdict of an accepted request. */
export interface ReplayVerdict {
  readonly seq: Seq;
  /** Index of the appended entry, where the request was an append. */
  readonly index?: number;
  /** Hash of the request's body as the server gave it to {@link EngineTx.remember}. */
  readonly hash: string;
}

/** Metadata of the commit row; `class` is set by the door the commit came through. */
export interface CommitMeta {
  readonly class: CommitClass;
  readonly principal?: Principal;
  readonly session?: SessionId;
  readonly localSeq?: LocalSeq;
  readonly holder?: HolderId;
  readonly derivedThrough?: Seq;
  readonly consequenceOf?: readonly EventId[];
  /** Of a commit that the server makes for an actor. */
  readonly capabilityRef?: CapabilityRef;
}

export interface LeaseRow {
  readonly holder: HolderId;
  /** ms of the store's clock. */
  readonly expiresAt: number;
  /** Judged by the store's clock: an expired row matches nobody (seed 001 §2). */
  readonly live: boolean;
}

/** The lease row, by one conditional update each; never a commit (seed 001 §2). */
export interface LeaseTable {
  /** True where the row is now this holder's. Idempotent for the live holder. */
  acquire(holder: HolderId, ttlMs: number): boolean;
  /** False where the row is not this holder's or has expired. */
  renew(holder: HolderId, ttlMs: number): boolean;
  /** Removes only the holder's own row. */
  release(holder: HolderId): boolean;
  current(): LeaseRow | undefined;
}

/** Place and mark of a stored entry. */
export interface EntryProgress {
  readonly seq: Seq;
  readonly index: number;
  readonly consequenced?: true;
}

/** Stream entries as rows (R21). Main branch. */
export interface EntryTable {
  /** Entries without a consequence, in arrival order (seq, index). */
  pending(limit?: number): readonly StreamEntry[];
  backlog(): boolean;
  /** Every stored entry with this id in this stream, oldest first: an id may recur. */
  byEvent(stream: DocId, eventId: EventId): readonly StreamEntry[];
  /** Consumed entries, still stored, with one of these ids in its stream, oldest first: in one look. */
  consumed(
    events: readonly { readonly stream: DocId; readonly eventId: EventId }[],
  ): readonly StreamEntry[];
  /** How far a stream's entries above `after` have come, oldest first: all that frontiers need. */
  progress(
    stream: DocId,
    options: { readonly after: Seq; readonly limit: number },
  ): readonly EntryProgress[];
  /** How many entries of a stream stand above `after`, up to `through`. */
  count(stream: DocId, range: { readonly after: Seq; readonly through: Seq }): number;
  /** The entry above the frontier that makes another append of this id a duplicate (seed 000 §4). */
  duplicate(stream: DocId, eventId: EventId): StreamEntry | undefined;
  at(stream: DocId, seq: Seq, index: number): StreamEntry | undefined;
  /** Entries of one stream with `seq > after`, oldest first. */
  list(
    stream: DocId,
    options?: { readonly after?: Seq; readonly limit?: number },
  ): readonly StreamEntry[];
  /** `eventWatermark` of the stream; 0 where nothing was consumed. */
  frontier(stream: DocId): Seq;
  frontiers(): readonly Frontier[];
}

export interface BasisTable {
  /** Instances with a home-space input whose head lies past the recorded seq: one indexed join. */
  stale(): readonly BasisInstance[];
  known(): readonly BasisInstance[];
  reads(action: ActionId, scopeKey: ScopeKey): readonly StoredBasisRead[];
  /** Rows whose input belongs to another space. */
  foreign(): readonly ForeignBasisRow[];
}

export interface BranchInfo {
  readonly name: BranchName;
  readonly parent: BranchName | undefined;
  /** Seq of the parent that the branch reads through to. */
  readonly at: Seq;
}

export interface BranchTable {
  create(name: BranchName, options?: { readonly from?: BranchName; readonly at?: Seq }): BranchInfo;
  delete(name: BranchName): void;
  list(): readonly BranchInfo[];
}

/**
 * One space's store (protocol.md §8). Synchronous; one instance per process and store. Several
 * processes may write one store: what this instance keeps in memory is dropped as soon as
 * another one's commit is seen (R19).
 */
export interface Engine {
  readonly space: SpaceId;
  /** Minted with the store; a cursor is (historyId, seq) (R26). */
  readonly historyId: string;
  /** Highest accepted seq; 0 for an empty store. */
  head(): Seq;
  /** W: the seq in the watermark document; 0 before the first (protocol.md §5). */
  watermark(): Seq;
  /** Oldest seq that can still be read `at`. */
  horizon(): Seq;
  /** `seq` is that of the instance's last change, 0 when never written. @throws HistoryHorizonError */
  read(id: DocId, scopeKey: ScopeKey, options?: ReadOptions): Held;
  /** @throws HistoryHorizonError */
  history(id: DocId, scopeKey: ScopeKey, options?: HistoryOptions): readonly Revision[];
  /** Present documents of the main branch whose id starts with `prefix`, by id. */
  listByPrefix(
    prefix: string,
    scopeKey: ScopeKey,
    options?: ListOptions,
  ): readonly ListedDocument[];
  /** The piece whose document links this node or stream under `result` or `internal`. */
  pieceOf(nodeId: DocId): DocId | undefined;
  /** Accepted commits of the main branch with `seq > after`, in order. @throws HistoryHorizonError */
  commitsSince(after: Seq, limit?: number): readonly AcceptedCommit[];
  /** The stored verdict for a resent request. */
  replay(key: ReplayKey): ReplayVerdict | undefined;
  /**
   * One commit. Holds the write lock from the start (BEGIN IMMEDIATE); whatever `fn` reads
   * through the engine or `tx` is current. Everything is buffered and written by `tx.commit`.
   * A throw, or a return without `tx.commit`, changes nothing. A returned promise throws, and so
   * does a nested call.
   */
  transact<T>(fn: (tx: EngineTx) => T, options?: { readonly branch?: BranchName }): T;
  /**
   * Many commits in one SQLite transaction (R34): each `transact` inside has a seq and a verdict
   * of its own; a throwing one leaves the others. Acknowledge only after `batch` has returned.
   */
  batch<T>(fn: () => T): T;
  /** Reads of one moment: every read inside sees the same commit as newest. */
  view<T>(fn: () => T): T;
  readonly lease: LeaseTable;
  readonly entries: EntryTable;
  readonly basis: BasisTable;
  readonly branches: BranchTable;
  /** R1/R30. With `holder`, refused (LeaseError) unless it holds the live lease. Bounded per call. */
  compact(policy?: Partial<CompactionPolicy>, holder?: HolderId): CompactionResult;
  prune(policy?: Partial<PrunePolicy>, holder?: HolderId): PruneResult;
  /** Moves the WAL into the file as far as readers allow; read the result (field fault DB-04). */
  checkpoint(mode?: CheckpointMode): CheckpointResult;
  /** Changes when another connection has committed (R19). */
  dataVersion(): number;
  /** Mints a new history id: for a store that was restored or went back (DB-03). */
  restartHistory(): string;
  close(): void;
}

/** The one open transaction. Buffered: nothing reaches SQLite before {@link EngineTx.commit}. */
export interface EngineTx {
  readonly branch: BranchName;
  /** ms of the store's clock, read once: the instant of the commit. */
  readonly at: number;
  /** The seq this commit gets. */
  seq(): Seq;
  /** As {@link Engine.read}, own buffered writes included. */
  read(id: DocId, scopeKey: ScopeKey): Held;
  /** Seq of the last stored change, own buffered writes not counted; 0 when never written. */
  head(id: DocId, scopeKey: ScopeKey): Seq;
  /** Stored changes with `seq > after`, oldest first. */
  revisionsAfter(id: DocId, scopeKey: ScopeKey, after: Seq): readonly Revision[];
  /** Confirmed reads that are no longer current, per document and path (protocol.md §2). */
  conflicts(reads: readonly ResolvedRead[]): readonly Conflict[];
  /** Index of the first precondition that fails, against the stored state (ADM-22). */
  failedPrecondition(preconditions: readonly ResolvedPrecondition[]): number | undefined;
  /** The lease row as of this very transaction. */
  lease(): LeaseRow | undefined;
  /** Buffers a change; the value afterwards. @throws PatchError and then nothing is buffered */
  write(change: AttributedChange): JsonValue | undefined;
  /** Buffers an entry; `seq` is the commit's, `index` counts the commit's entries in all streams. */
  append(entry: NewStreamEntry): StreamEntry;
  /** The stored or buffered entry above the frontier with this id (seed 000 §4). */
  duplicate(stream: DocId, eventId: EventId): StreamEntry | undefined;
  /** Buffers `consequenced: true`, with a status unless the handler succeeded; sheds the payload. */
  mark(mark: EntryMark): void;
  /** `eventWatermark` of a stream: never moves back. */
  frontier(stream: DocId, seq: Seq): void;
  basis(update: BasisUpdate): void;
  /** Writes the watermark document of this commit. Never moves back. */
  watermark(seq: Seq): void;
  /** Stores the verdict a resend of this request gets; of one key the newest stands. */
  remember(key: ReplayKey, hash: string, index?: number): void;
  /**
   * Writes the buffered basis rows alone: no commit, no seq, since a basis row is never a commit of its own
   * (R13). In place of {@link EngineTx.commit}; nothing else may be buffered.
   */
  keepBasis(): void;
  /** Writes everything, runs the extensions, once per transaction. */
  commit(meta: CommitMeta): AcceptedCommit;
}
