import {
  identityFromSeed,
  isTidemarkError,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type CommitClass,
  type DocId,
  type EventId,
  type HolderId,
  type JsonValue,
  type PatchOp,
  type Path,
  type Principal,
  type ScopeKey,
  type Seq,
  type SessionId,
  type SpaceId,
} from "@tidemark/protocol";
import type { TestApi, VirtualClock } from "@tidemark/protocol/testing";
import type { Engine, EngineOptions, NewStreamEntry, ResolvedRead } from "../engine-types.js";

/** One store for one test. */
export interface EngineHarness {
  readonly clock: VirtualClock;
  /** Opens the store: the first call sets it up, later ones open it again as another process would. */
  open(options?: Partial<EngineOptions>): Engine;
  /** False where a second `open` would find another, empty store (`:memory:`). */
  readonly reopens: boolean;
  dispose(): void;
}

export type EngineHarnessFactory = () => EngineHarness;

/** A test of a suite: its title carries the ids of the rules it holds. */
export type EngineCase = readonly [
  title: string,
  run: (harness: EngineHarness, api: TestApi) => void | Promise<void>,
];

/** Registers cases, each on a fresh store that is disposed afterwards. */
export function registerCases(
  cases: readonly EngineCase[],
  create: EngineHarnessFactory,
  api: TestApi,
): void {
  for (const [title, run] of cases) {
    api.test(title, async () => {
      const harness = create();
      try {
        await run(harness, api);
      } finally {
        harness.dispose();
      }
    });
  }
}

/** The one space of the suites, and its people. */
export const SPACE: SpaceId = identityFromSeed(new Uint8Array(32).fill(1)).did as string as SpaceId;
export const OTHER_SPACE: SpaceId = identityFromSeed(new Uint8Array(32).fill(2))
  .did as string as SpaceId;
export const ANA: Principal = identityFromSeed(new Uint8Array(32).fill(3)).did;
export const BEN: Principal = identityFromSeed(new Uint8Array(32).fill(4)).did;
export const A1 = "a1" as SessionId;
export const HOLDER = "service#1" as HolderId;
export const RIVAL = "service#2" as HolderId;
export const S: ScopeKey = SPACE_SCOPE_KEY;

export const doc = (id: string): DocId => id as DocId;
export const at = (seq: number): Seq => seq as Seq;
export const event = (id: string): EventId => id as EventId;

/** Commits one `set`. */
export function set(
  engine: Engine,
  id: string,
  value: JsonValue,
  scopeKey: ScopeKey = S,
  cls: CommitClass = "authored",
): AcceptedCommit {
  return engine.transact((tx) => {
    tx.write({ id: doc(id), scopeKey, op: { op: "set", value } });
    return tx.commit({ class: cls });
  });
}

/** Commits one patch. */
export function patch(engine: Engine, id: string, ...ops: readonly PatchOp[]): AcceptedCommit {
  return engine.transact((tx) => {
    tx.write({ id: doc(id), scopeKey: S, op: { op: "patch", value: ops } });
    return tx.commit({ class: "authored" });
  });
}

export function remove(engine: Engine, id: string): AcceptedCommit {
  return engine.transact((tx) => {
    tx.write({ id: doc(id), scopeKey: S, op: { op: "delete" } });
    return tx.commit({ class: "authored" });
  });
}

export function valueOf(engine: Engine, id: string, scopeKey: ScopeKey = S): JsonValue | undefined {
  return engine.read(doc(id), scopeKey).value;
}

export function readOf(
  id: string,
  seq: number,
  path: Path = [],
  kind: ResolvedRead["kind"] = "value",
): ResolvedRead {
  return { id: doc(id), scopeKey: S, path, seq: at(seq), kind };
}

/** An entry as a session appends it. */
export function fired(stream: string, id: string, payload: JsonValue = null): NewStreamEntry {
  const firedAt = { user: ANA, session: A1, clientSeq: 1 };
  return { stream: doc(stream), eventId: event(id), payload, firedAt };
}

/** Commits one append. */
export function append(
  engine: Engine,
  stream: string,
  id: string,
  payload?: JsonValue,
): AcceptedCommit {
  return engine.transact((tx) => {
    tx.append(fired(stream, id, payload));
    return tx.commit({ class: "authored", principal: ANA, session: A1 });
  });
}

/** Marks every pending entry of a stream and moves its frontier there, in one derived commit. */
export function consume(engine: Engine, stream: string): AcceptedCommit | undefined {
  const pending = engine.entries.pending().filter((entry) => entry.stream === stream);
  const last = pending.at(-1);
  if (last === undefined) return undefined;
  return engine.transact((tx) => {
    for (const { seq, index, eventId } of pending) {
      tx.mark({ stream: doc(stream), seq, index, eventId });
    }
    tx.frontier(doc(stream), last.seq);
    return tx.commit({
      class: "derived",
      holder: HOLDER,
      consequenceOf: pending.map((entry) => entry.eventId),
    });
  });
}

/** The code of the typed error that `fn` throws; "none" when it throws nothing. */
export function codeOf(fn: () => unknown): string {
  try {
    fn();
    return "none";
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    const kind = (error.details as { readonly kind?: string }).kind;
    return kind === undefined ? error.code : `${error.code}/${kind}`;
  }
}

/** True when `fn` throws anything. */
export function throws(fn: () => unknown): boolean {
  try {
    fn();
    return false;
  } catch {
    return true;
  }
}
