import type { Clock, SpaceId } from "@tidemark/protocol";
import { abortReason, withDeadline } from "../deadline.js";
import { aborted, failure } from "../failure.js";
import type { Query, QueryAnswer } from "./query-answer.js";
import { QueryProcess } from "./query-process.js";

/** Bounds of all queries of a process. */
export interface PoolLimits {
  /** Of one query, from its start, ms. */
  readonly queryMs: number;
  /** Queries that run at once. */
  readonly processes: number;
  /** Of them, those of one space: the rest is for the others. */
  readonly perSpace: number;
  /** Queries of one space that wait. */
  readonly waiting: number;
  /** Of a query's process, bytes. */
  readonly memoryBytes: number;
}

interface Waiting {
  readonly space: SpaceId;
  readonly start: () => void;
}

/** Gives each query a process, in the order of their coming as far as each space's share allows. */
export class QueryPool {
  readonly #clock: Clock;
  readonly #limits: PoolLimits;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<SpaceId, number>();
  readonly #processes = new Set<QueryProcess>();
  readonly #ends = new Set<() => void>();
  #closed = false;
  #idle: QueryProcess | undefined;

  constructor(clock: Clock, limits: PoolLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** @throws EffectError "timeout", "limit", "provider" or, where it was given up, "network". */
  async run(space: SpaceId, query: Query, signal: AbortSignal): Promise<QueryAnswer> {
    if (signal.aborted || this.#closed) throw aborted();
    const ending = new AbortController();
    const end = (): void => ending.abort(aborted());
    signal.addEventListener("abort", end, { once: true });
    this.#ends.add(end);
    try {
      await this.#turn(space, ending.signal);
      return await this.#ask(space, query, ending.signal);
    } finally {
      signal.removeEventListener("abort", end);
      this.#ends.delete(end);
    }
  }

  /** Ends every query. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends) end();
    await Promise.all([...this.#processes].map((process) => this.#end(process)));
  }

  async #ask(space: SpaceId, query: Query, signal: AbortSignal): Promise<QueryAnswer> {
    const process = this.#take();
    const { queryMs: ms } = this.#limits;
    const deadline = { clock: this.#clock, ms, signal, what: "sqliteQuery: the query" };
    try {
      const answer = await withDeadline(deadline, () => process.ask(query));
      if (process.alive) {
        this.#giveBack(process);
        this.#leave(space);
      } else this.#endIn(space, process);
      return answer;
    } catch (error) {
      this.#endIn(space, process);
      throw error;
    }
  }

  /** The place is free once the process is gone. */
  #endIn(space: SpaceId, process: QueryProcess): void {
    void this.#end(process).then(() => this.#leave(space));
  }

  /** Waits for a place. */
  #turn(space: SpaceId, signal: AbortSignal): Promise<void> {
    const ahead = this.#waiting.filter((waiting) => waiting.space === space).length;
    if (ahead >= this.#limits.waiting) {
      return Promise.reject(failure("limit", "waiting", "sqliteQuery: too many queries wait"));
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(abortReason(signal));
      };
      const waiting: Waiting = {
        space,
        start: () => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        },
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  #next(): void {
    const { processes, perSpace } = this.#limits;
    for (;;) {
      if (total(this.#running) >= processes) return;
      const at = this.#waiting.findIndex(({ space }) => (this.#running.get(space) ?? 0) < perSpace);
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return;
      this.#running.set(next.space, (this.#running.get(next.space) ?? 0) + 1);
      next.start();
    }
  }

  #leave(space: SpaceId): void {
    const left = (this.#running.get(space) ?? 1) - 1;
    if (left > 0) this.#running.set(space, left);
    else this.#running.delete(space);
    this.#next();
  }

  #take(): QueryProcess {
    const idle = this.#idle;
    this.#idle = undefined;
    if (idle?.alive === true) return idle;
    const process = new QueryProcess(this.#limits.memoryBytes);
    this.#processes.add(process);
    return process;
  }

  /** One is kept for the next query: a start costs more than most queries do. */
  #giveBack(process: QueryProcess): void {
    if (this.#idle === undefined && process.alive && !this.#closed) {
      this.#idle = process;
    } else void this.#end(process);
  }

  async #end(process: QueryProcess): Promise<void> {
    await process.kill();
    this.#processes.delete(process);
  }
}

function total(counts: ReadonlyMap<SpaceId, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
