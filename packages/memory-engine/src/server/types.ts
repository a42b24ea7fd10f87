import type {
  AcceptedCommit,
  Actor,
  AuthorizationError,
  Clock,
  DerivedBatch,
  DocChange,
  Gates,
  HolderId,
  InstanceKey,
  Principal,
  Random,
  Seq,
  SpaceId,
  TidemarkError,
} from "@tidemark/protocol";
import type { Engine, EngineTx } from "../engine-types.js";
import type { AccessRequest } from "./admission/access.js";
import type { DirectRequest } from "./derived/direct.js";
import type { ServerPolicy } from "./policy.js";

/** Where the stores of the spaces are. Opening one that does not exist yet creates it. */
export interface StoreProvider {
  open(space: SpaceId): Engine;
  /** Whether a store stands for the space. Never creates one. */
  exists(space: SpaceId): boolean;
  list(): readonly SpaceId[];
}

/** One line of structured log. The server logs nothing that a message's author wrote. */
export type ServerLog = (
  level: "info" | "warn" | "error",
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** What a {@link MemoryServer} is made of. Times are milliseconds of the injected clocks. */
export interface MemoryServerOptions {
  /** Timers, macrotasks and the age of challenges. */
  readonly clock: Clock;
  readonly random: Random;
  readonly gates: Gates;
  readonly stores: StoreProvider;
  /** Named in every challenge: a signature for another server is worth nothing here. */
  readonly serverId: string;
  readonly policy?: Partial<ServerPolicy>;
  readonly log?: ServerLog;
}

/** Names one session in one map: `principal sessionId`. */
export type SessionRef = string;

/** What one session demands of one space: its tracked set, and as whom (seed 001 §1). */
export interface DemandShare {
  readonly actor: Actor;
  /** Every instance the session's watches reach, absent ones included. Never mutated. */
  readonly keys: ReadonlySet<InstanceKey>;
}

/**
 * Why a tracked set moved: a session set its watches; a commit's values made its walk reach more (seed 001
 * §1, later demand); it ended or shrank.
 */
export type DemandCause = "watch" | "growth" | "left";

/** Notices of one batch, by cause; those of sessions that left are in neither count. */
export interface DemandNews {
  readonly watches: number;
  readonly growths: number;
}

/** Something that ends: closing twice does nothing. */
export interface Subscription {
  close(): void;
}

/** Wakes the executor's host (seed 001 §1, plane (b)). */
export interface AdmissionNotice {
  readonly space: SpaceId;
  /** The admitted commit where the reason is `commit` or, for provisioning, `warm`. */
  readonly commit: AcceptedCommit | undefined;
  readonly reason: "commit" | "session" | "warm";
  /** The staged instances of a warm request. */
  readonly instances?: readonly InstanceKey[];
}

/**
 * A wave's plan runs inside the transaction: it reads heads, decides, and returns what to write. A list
 * is a split wave: a commit each, in this order, all of them or none (seed 001 §3).
 */
export type DerivedPlan = (tx: EngineTx) => DerivedBatch | readonly DerivedBatch[] | undefined;

/** The answer to a derived commit, as data: the caller decides what a refusal means for the tenure. */
export type DerivedVerdict =
  | {
      readonly ok: true;
      /** Absent where the plan withdrew, or had nothing to write; of a split wave the last. */
      readonly commit: AcceptedCommit | undefined;
      /** Every commit that was written, in seq order. */
      readonly commits: readonly AcceptedCommit[];
      /** Tells feed and subscribers; does nothing unless the commit was held (`hold: true`). */
      release(): void;
    }
  | { readonly ok: false; readonly error: TidemarkError };

/** The answer to a direct commit. */
export type DirectVerdict =
  | {
      readonly ok: true;
      /** Of this commit, or of the one that was made for the same cause before. */
      readonly seq: Seq;
      /** Absent where it was made before: nothing was written. */
      readonly commit: AcceptedCommit | undefined;
      /** Tells feed and subscribers; does nothing unless the commit was held (`hold: true`). */
      release(): void;
    }
  | { readonly ok: false; readonly error: TidemarkError };

/** The answer to what a run asks of the access list. Anything but a verdict on the request is thrown. */
export type AccessVerdict =
  | {
      readonly ok: true;
      /** Absent where nothing is left to change, and of a check. */
      readonly commit: AcceptedCommit | undefined;
    }
  | { readonly ok: false; readonly error: TidemarkError };

/** How a derived commit is told. */
export interface DerivedOptions {
  /**
   * Keeps the space's feed and frames back until `release()`: the commit is durable and nobody has
   * been told (the gate `wave:after-commit`).
   */
  readonly hold?: boolean;
}

/** How a feed is followed. */
export interface FeedOptions {
  /** The store stays open for it and is not polled for it: other processes' commits come when somebody looks. */
  readonly quiet?: boolean;
}

/** The memory server's own direct write (protocol.md §1, class `system`). */
export type SystemPlan = (tx: EngineTx) => readonly DocChange[] | undefined;

/** One space as the co-hosted executor sees it. Everything here is in process and synchronous. */
export interface ServedSpace {
  readonly space: SpaceId;
  readonly engine: Engine;
  /**
   * Every accepted commit above `from`, in seq order, without gaps or repeats, own derived ones and
   * those of other processes included (R19). `fn` is called outside every transaction.
   */
  feed(from: Seq, fn: (commit: AcceptedCommit) => void, options?: FeedOptions): Subscription;
  /** Looks for commits of other processes now (a lease step calls it); true when there were some. */
  refresh(): boolean;
  /** Tracked sets of the live sessions. A share is the same object until that session's set changes. */
  demand(): ReadonlyMap<SessionRef, DemandShare>;
  /** Called after some share was added, replaced or removed; once per batch, with what caused it. */
  onDemand(fn: (news: DemandNews) => void): Subscription;
  /** Sessions that have this space open on a live connection. */
  liveSessions(): number;
  /**
   * ONE immediate transaction: the lease row is read in it and judged by the store's clock, then the
   * plan runs in it (seed 001 §2, §3d).
   */
  commitDerived(holder: HolderId, plan: DerivedPlan, options?: DerivedOptions): DerivedVerdict;
  /** Why the access list, as it stands, denies a principal's writes; `undefined` where it admits them. */
  checkWrite(principal: Principal): AuthorizationError | undefined;
  /**
   * A transaction of the loop's own beside its waves, for somebody who asked: committed as derived, under
   * the live lease, with their authority and its own reads checked as a client's commit's (seed 001 §3e).
   */
  commitDirect(holder: HolderId, request: DirectRequest, options?: DerivedOptions): DirectVerdict;
  /**
   * Decides what a handler's run asks of the access list as if the event's actor had asked, and writes
   * nothing (seed 001 §3d).
   *
   * @throws StorageError
   */
  checkAccess(request: AccessRequest): AccessVerdict;
  /**
   * Commits it, decided again: an authored commit of the list alone, for the actor. Once for one entry: a
   * replay has nothing left to change.
   *
   * @throws LeaseError, StorageError
   */
  commitAccess(holder: HolderId, request: AccessRequest): AccessVerdict;
  /** A direct write of the server's own. @throws what the engine throws. */
  commitSystem(plan: SystemPlan): AcceptedCommit | undefined;
}
