import type { DirectVerdict, ServedSpace } from "@tidemark/memory-engine";
import {
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type GateName,
  type HolderId,
  type InstanceKey,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import type { Scheduler } from "@tidemark/scheduler";
import type { CoverageKeeper } from "../loop/coverage-keeper.js";
import type { LoadAnswer } from "../replica/loads.js";
import type { SpaceStats } from "../stats/counters.js";
import { TenureEnd } from "../tenure/end.js";
import type { WaveAccumulator } from "../wave/accumulator.js";
import type { WavePlan } from "../wave/plan.js";
import { createDraft, decideVerb, pieceKey } from "./decide.js";
import type { PreparedCreate, PreparedSetSource } from "./prepare.js";
import type { VerbRequest } from "./request.js";
import { stagedBy } from "./staged.js";

/** What a {@link VerbStep} is made of. */
export interface VerbStepOptions {
  readonly served: Pick<ServedSpace, "space" | "checkWrite" | "commitDirect">;
  readonly holder: HolderId;
  readonly accumulator: WaveAccumulator;
  readonly replica: { readonly seq: Seq; missing(key: InstanceKey): LoadAnswer | undefined };
  readonly coverage: CoverageKeeper;
  readonly scheduler: Pick<Scheduler, "notify">;
  /** Swaps the graph of what a commit moved. */
  readonly structure: { follow(commits: readonly AcceptedCommit[]): void };
  readonly stats: SpaceStats;
  readonly pass: (gate: GateName) => Promise<void> | undefined;
  readonly confirmLease: () => boolean;
  /** A warm-marked notice of what a verb staged, once its wave has committed (seed 001 §1). */
  readonly announce: (commit: AcceptedCommit | undefined, staged: readonly InstanceKey[]) => void;
}

/** A verb that ran in this cycle, and waits for its wave. */
interface Ran {
  readonly request: VerbRequest;
  /** What it sealed: the wave decides of it. */
  readonly contribution?: number;
  /** Where it is held; of a seal once the wave has landed it. */
  seq?: Seq | undefined;
  readonly changed: boolean;
  /** The commit that holds what it staged, and its document's value. */
  commit?: AcceptedCommit | undefined;
  readonly value?: JsonValue;
}

/** What a wave's commit means for a verb. */
export interface VerbWave {
  readonly plan: Pick<WavePlan, "fates">;
  readonly commit: AcceptedCommit | undefined;
  readonly places: ReadonlyMap<InstanceKey, Seq>;
}

/**
 * Runs lifecycle verbs ahead of a cycle's drain, in the order in which they were asked for (seed 001 §1, §3e):
 * a creation seals into the cycle's wave, a source update commits on its own. Each settles with that wave.
 */
export class VerbStep {
  readonly #options: VerbStepOptions;
  #waiting: VerbRequest[] = [];
  #ran: Ran[] = [];
  #armed = false;
  /** A direct commit is durable, and nothing here knows of it: what fails then fails the tenure. */
  #committing = false;

  constructor(options: VerbStepOptions) {
    this.#options = options;
  }

  /** No verb waits or has run without being settled. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#ran.length === 0;
  }

  /** A verb could run now. */
  get due(): boolean {
    return this.#armed && this.#waiting.length > 0;
  }

  add(request: VerbRequest): void {
    this.#waiting.push(request);
    this.#armed = true;
  }

  /** What a verb was waiting for may have come. */
  arm(): void {
    this.#armed = true;
  }

  /** The tenure ends: everything that it had not settled. */
  drop(): readonly VerbRequest[] {
    const left = [...this.#ran.map(({ request }) => request), ...this.#waiting];
    this.#ran = [];
    this.#waiting = [];
    return left;
  }

  /** Runs what can run; of one piece nothing overtakes a verb that waits. @throws TenureEnd; what the gate throws. */
  async run(): Promise<void> {
    this.#armed = false;
    const waits = new Set<DocId>();
    const asked = this.#waiting;
    for (const request of asked) {
      const { piece } = request.verb;
      if (waits.has(piece) || !(await this.#ends(request))) waits.add(piece);
      else this.#waiting = this.#waiting.filter((one) => one !== request);
    }
  }

  /** The wave of this cycle is durable: where its seals have landed, or that they are decided again. */
  landed({ plan, commit, places }: VerbWave): void {
    for (const ran of this.#ran) {
      if (ran.contribution === undefined) continue;
      if (plan.fates.get(ran.contribution)?.kind !== "lands") continue;
      ran.seq = places.get(pieceKey(ran.request.verb.piece)) ?? commit?.seq;
      ran.commit = commit;
      ran.request.landed = ran.seq;
    }
  }

  /** The cycle is over: what has a place is announced and settled, the rest is decided again (seed 001 §3d). */
  settle(): void {
    const { accumulator, replica } = this.#options;
    // Whatever is sealed from here on rests on what the replica shows.
    if (accumulator.open.isEmpty) accumulator.direct.forget(replica.seq);
    const ran = this.#ran;
    if (ran.length === 0) return;
    this.#ran = [];
    const again = ran.filter(({ seq }) => seq === undefined);
    this.#waiting = [...again.map(({ request }) => request), ...this.#waiting];
    this.#armed ||= again.length > 0;
    for (const { request, seq, changed, commit, value } of ran) {
      if (seq === undefined) continue;
      if (value !== undefined) this.#options.announce(commit, stagedBy(request.verb.piece, value));
      this.#options.stats.counts.lifecycleVerbs += 1;
      request.settle(seq, changed);
    }
  }

  /** Whether it has run or was refused; false where it waits: for a load, or for sealed writes over its document. */
  async #ends(request: VerbRequest): Promise<boolean> {
    const { served, accumulator, replica } = this.#options;
    const { verb } = request;
    const denied = served.checkWrite(verb.principal);
    if (denied !== undefined) return refused(request, denied);
    const key = pieceKey(verb.piece);
    if (accumulator.view.has(key)) {
      // The wave that holds them closes with this cycle.
      this.#armed = true;
      return false;
    }
    const held = accumulator.view.get(key);
    if (held === undefined) {
      const missing = replica.missing(key);
      return missing?.state === "failed" ? refused(request, missing.error) : false;
    }
    try {
      const decision = decideVerb(verb, held, served.space);
      if (decision.kind === "stands") {
        this.#ran.push({ request, seq: decision.seq, changed: false });
      } else if (verb.verb === "create") {
        this.#seal(request, verb, decision.value);
      } else {
        await this.#commit(request, verb, held.seq, decision.value);
      }
    } catch (error) {
      if (error instanceof TenureEnd || this.#committing) throw error;
      refused(request, error);
    }
    return true;
  }

  #seal(request: VerbRequest, verb: PreparedCreate, value: JsonValue): void {
    const { accumulator, scheduler } = this.#options;
    const { contribution, changes } = accumulator.seal(createDraft(verb, value));
    scheduler.notify(changes, "external");
    this.#ran.push({ request, contribution: contribution.id, changed: true, value });
  }

  /** Durable before anything here knows of it: the graph that runs is replaced after that alone (seed 001 §3e). */
  async #commit(
    request: VerbRequest,
    verb: PreparedSetSource,
    at: Seq,
    value: JsonValue,
  ): Promise<void> {
    const verdict = this.#write(verb, at, value);
    const { seq, commit } = verdict;
    if (commit === undefined) {
      this.#ran.push({ request, seq, changed: false });
      return;
    }
    this.#committing = true;
    try {
      request.landed = seq;
      this.#count(commit);
      const held = this.#options.pass("verb:after-commit");
      if (held !== undefined) await held;
      this.#swap(verb, value, commit);
      this.#ran.push({ request, seq, changed: true, commit, value });
    } finally {
      // It is durable whatever happens to this tenure.
      verdict.release();
    }
    this.#committing = false;
  }

  /** @throws TenureEnd where no commit of this tenure is taken; the store's verdict on the request */
  #write(
    { principal, piece, pattern, cause }: PreparedSetSource,
    at: Seq,
    value: JsonValue,
  ): Extract<DirectVerdict, { readonly ok: true }> {
    const { served, holder, coverage, confirmLease } = this.#options;
    const verdict = served.commitDirect(
      holder,
      {
        principal,
        reads: [{ id: piece, path: [], seq: at, kind: "value" }],
        changes: [{ id: piece, scopeKey: SPACE_SCOPE_KEY, op: { op: "set", value } }],
        derivedThrough: coverage.watermark,
        ...(cause === undefined
          ? {}
          : { cause: { of: cause, body: [piece, pattern.id, pattern.version] } }),
      },
      { hold: true },
    );
    if (verdict.ok) return verdict;
    const { error } = verdict;
    const ofTenure = error.code === "lease" || error.code === "storage";
    throw ofTenure ? new TenureEnd(confirmLease() ? "failed" : "lapse", error) : error;
  }

  #count(commit: AcceptedCommit): void {
    const { counts } = this.#options.stats;
    counts.derivedCommits += 1;
    counts.directCommits += 1;
    this.#options.coverage.landed(commit);
  }

  /** The view first, then the graph: its first runs see the commit, and land with this cycle's wave. */
  #swap({ piece }: PreparedSetSource, value: JsonValue, commit: AcceptedCommit): void {
    const { accumulator, scheduler, structure } = this.#options;
    const changes = accumulator.absorbDirect(pieceKey(piece), value, commit.seq);
    scheduler.notify(changes, "external");
    structure.follow([commit]);
  }
}

/** It ends as refused. */
function refused(request: VerbRequest, error: unknown): true {
  request.refuse(error);
  return true;
}
