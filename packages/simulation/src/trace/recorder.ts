import type { Engine, EngineTx } from "@tidemark/memory-engine";
import {
  type AcceptedCommit,
  type Clock,
  type DocId,
  isTidemarkError,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { WorldWatch } from "../world/watch.js";
import { changesAhead } from "./behind.js";
import type { Observation } from "./observation.js";

type Watches = Required<Pick<WorldWatch, "gate" | "store" | "process" | "handlers" | "theft">>;
/** An observation that knows its instant by itself. */
type Untimed = Observation extends infer Each
  ? Each extends Observation
    ? Omit<Each, "at">
    : never
  : never;

/**
 * Stands at the seams of the running system and tells what happens there, as it happens: the stores' transactions and
 * lease rows, gates, handlers' bodies, and what becomes of processes. It changes nothing.
 */
export class Recorder implements Watches {
  readonly #clock: Pick<Clock, "now">;
  readonly #tell: (observation: Observation) => void;
  readonly #watched = new WeakSet<Engine>();
  readonly #lives = new Map<string, object>();
  /** Streams that something was ever appended to: one of which nothing was consumed has no frontier to be found by. */
  readonly #streams = new Map<SpaceId, Set<DocId>>();

  constructor(clock: Pick<Clock, "now">, tell: (observation: Observation) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  readonly gate: Watches["gate"] = (gate, met, { process, space, event }) =>
    this.#see({ kind: "gate", space, process, gate, met, event });

  readonly process: Watches["process"] = (process, what, holder) => {
    if (what === "dies" || what === "stops") this.#lives.delete(process);
    this.#see({ kind: "process", process, what, holder });
  };

  readonly theft: Watches["theft"] = (space, holder, ttl) =>
    this.#see({ kind: "theft", space, holder, ttl });

  /** What a dead process's promises still do on the real machine does not happen in the world. */
  readonly handlers: Watches["handlers"] = (process) => {
    const life = {};
    this.#lives.set(process, life);
    const lives = (): boolean => this.#lives.get(process) === life;
    return {
      begins: (key) => void (lives() && this.#see({ kind: "body", process, key })),
      ends: (key, how) => void (lives() && this.#see({ kind: "body", process, key, how })),
    };
  };

  readonly store: Watches["store"] = (process, engine) => {
    if (this.#watched.has(engine)) return;
    this.#watched.add(engine);
    this.#watchLease(process, engine);
    this.#watchCommits(process, engine);
    this.#watchCompaction(engine);
  };

  #see(observation: Untimed): void {
    this.#tell({ ...observation, at: this.#clock.now() } as Observation);
  }

  #streamsOf(space: SpaceId): Set<DocId> {
    const known = this.#streams.get(space) ?? new Set();
    this.#streams.set(space, known);
    return known;
  }

  #watchLease(process: string, { space, lease }: Engine): void {
    for (const call of ["acquire", "renew"] as const) {
      const original = lease[call].bind(lease);
      lease[call] = (holder, ttl) => {
        const ok = original(holder, ttl);
        this.#see({ kind: "lease", space, process, call, holder, ttl, ok });
        return ok;
      };
    }
    const release = lease.release.bind(lease);
    lease.release = (holder) => {
      const ok = release(holder);
      this.#see({ kind: "lease", space, process, call: "release", holder, ttl: 0, ok });
      return ok;
    };
  }

  /** A commit is told once it is durable: with its transaction, or with the whole of a batch. */
  #watchCommits(process: string, engine: Engine): void {
    const { space } = engine;
    const transact = engine.transact.bind(engine);
    const batch = engine.batch.bind(engine);
    let held: Held[] | undefined;
    const tell = (seen: () => void, more: Omit<Held, "seen"> = {}): void =>
      held === undefined ? seen() : void held.push({ seen, ...more });
    const told = (commit: AcceptedCommit): void => {
      const behind = commit.watermark === undefined ? [] : changesAhead(engine);
      for (const { stream } of commit.appends) this.#streamsOf(space).add(stream);
      this.#see({ kind: "commit", space, process, commit, behind });
    };
    engine.transact = (fn, options) => {
      const spy: Spy = { commit: undefined, derives: false, asked: undefined };
      try {
        const result = transact((tx) => fn(spying(tx, spy)), options);
        const { commit } = spy;
        if (commit !== undefined) tell(() => told(commit), { commit });
        else if (spy.derives)
          tell(() => this.#see({ kind: "no commit", space, process, error: undefined }));
        return result;
      } catch (error) {
        // A disk may say that it failed, and the commit stands.
        if (spy.commit !== undefined && held === undefined && stands(engine, spy.commit))
          told(spy.commit);
        tell(() => this.#refused(process, engine, spy, error), { anyhow: true });
        throw error;
      }
    };
    engine.batch = (fn) => {
      const outer = held;
      const waiting: Held[] = (held = []);
      try {
        const result = batch(fn);
        held = outer;
        for (const { seen } of waiting) seen();
        return result;
      } catch (error) {
        held = outer;
        for (const { seen, commit, anyhow } of waiting) {
          if (anyhow || (commit !== undefined && stands(engine, commit))) seen();
        }
        throw error;
      }
    };
  }

  #refused(process: string, { space }: Engine, spy: Spy, error: unknown): void {
    const code = isTidemarkError(error) ? error.code : "?";
    if (spy.derives) this.#see({ kind: "no commit", space, process, error: code });
    if (code === "duplicate-event" && spy.asked !== undefined) {
      this.#see({ kind: "duplicate", space, ...spy.asked });
    }
  }

  #watchCompaction(engine: Engine): void {
    const { space, entries } = engine;
    const compact = engine.compact.bind(engine);
    engine.compact = (...args) => {
      const result = compact(...args);
      if (result.removed > 0) {
        const left = [...this.#streamsOf(space)]
          .flatMap((stream) => entries.list(stream))
          .map(({ stream, seq, index }) => ({ stream, seq, index }));
        this.#see({ kind: "compaction", space, left });
      }
      return result;
    };
  }
}

/** What is told once its batch has ended; where that was undone, what is to be told `anyhow`. */
interface Held {
  readonly seen: () => void;
  readonly anyhow?: true;
  readonly commit?: AcceptedCommit;
}

/** Whether the store holds the commit, whatever its maker was told. */
function stands(engine: Engine, { seq, class: kind, at }: AcceptedCommit): boolean {
  const [row] = engine.commitsSince((seq - 1) as Seq, 1);
  return row?.seq === seq && row.class === kind && row.at === at;
}

/** What was done with a transaction. */
interface Spy {
  commit: AcceptedCommit | undefined;
  /** The lease row was asked for: a wave's transaction. */
  derives: boolean;
  asked: { readonly stream: string; readonly event: string } | undefined;
}

function spying(tx: EngineTx, spy: Spy): EngineTx {
  const commit = tx.commit.bind(tx);
  const lease = tx.lease.bind(tx);
  const duplicate = tx.duplicate.bind(tx);
  tx.commit = (meta) => (spy.commit = commit(meta));
  tx.lease = () => {
    spy.derives = true;
    return lease();
  };
  tx.duplicate = (stream, event) => {
    spy.asked = { stream, event };
    return duplicate(stream, event);
  };
  return tx;
}
