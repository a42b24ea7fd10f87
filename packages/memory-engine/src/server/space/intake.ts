import type { AcceptedCommit, Clock } from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";

/** One request that waits for the next transaction. */
export interface IntakeJob<T = unknown> {
  /** Runs inside the transaction, in a scope of its own: a throw is this request's refusal alone. */
  admit(): Admitted<T>;
  /** Called after the transaction is durable, or has failed as a whole. */
  settle(outcome: Outcome<T>): void;
}

/** What an admitted request is answered with, and the commit it made, if it made one. */
export interface Admitted<T> {
  readonly result: T;
  readonly commit: AcceptedCommit | undefined;
}

export type Outcome<T> =
  | { readonly ok: true; readonly admitted: Admitted<T> }
  | { readonly ok: false; readonly error: unknown };

/** What the intake works with. */
export interface IntakeDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly onGroup: () => void;
  /** The accepted commits of one transaction, in seq order, after every request was answered. */
  readonly onCommits: (commits: readonly AcceptedCommit[]) => void;
  /** A transaction failed as a whole, every request of it was told so, and it may stand all the same. */
  readonly onFailure: () => void;
}

interface Outcomes {
  readonly outcomes: readonly Outcome<unknown>[];
  readonly failed: boolean;
}

/** Most requests of one transaction: what a burst makes the first of them wait is bounded. */
const MAX_GROUP = 512;

/**
 * Group commit (R34): the requests that arrived in one macrotask are admitted in one immediate
 * transaction, each with its own seq and verdict, and answered after it.
 */
export class Intake {
  readonly #deps: IntakeDeps;
  #jobs: IntakeJob[] = [];
  #scheduled = false;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  submit<T>(job: IntakeJob<T>): void {
    this.#jobs.push(job as IntakeJob);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#deps.clock.immediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Admits what waits now: what follows in the same session may rest on it. */
  flush(): void {
    while (this.#jobs.length > 0) {
      const group = this.#jobs.slice(0, MAX_GROUP);
      this.#jobs = this.#jobs.slice(MAX_GROUP);
      this.#admit(group);
    }
  }

  #admit(group: readonly IntakeJob[]): void {
    this.#deps.onGroup();
    const { outcomes, failed } = this.#outcomes(group);
    const commits: AcceptedCommit[] = [];
    for (const [at, job] of group.entries()) {
      const outcome = outcomes[at] as Outcome<unknown>;
      if (outcome.ok && outcome.admitted.commit !== undefined) {
        commits.push(outcome.admitted.commit);
      }
      job.settle(outcome);
    }
    if (commits.length > 0) this.#deps.onCommits(commits);
    if (failed) this.#deps.onFailure();
  }

  #outcomes(group: readonly IntakeJob[]): Outcomes {
    try {
      const outcomes = this.#deps.engine.batch(() => group.map((job) => attempt(job)));
      return { outcomes, failed: false };
    } catch (error) {
      // Whatever the single verdicts were: nothing of it stands, or nobody can say so yet (ME-F9).
      return { outcomes: group.map(() => ({ ok: false, error })), failed: true };
    }
  }
}

function attempt(job: IntakeJob): Outcome<unknown> {
  try {
    return { ok: true, admitted: job.admit() };
  } catch (error) {
    return { ok: false, error };
  }
}
