import type { ServedSpace } from "@tidemark/memory-engine";
import type { InstanceKey, SpaceId } from "@tidemark/protocol";
import type { ParkReason } from "../host/park.js";
import type { VerbRequest } from "../lifecycle/request.js";
import { Maintenance } from "../loop/maintenance.js";
import { gateOf } from "../loop/loop.js";
import { Wake } from "../loop/wake.js";
import { disposeParts } from "./dispose.js";
import { parkReasonOf, TenureEnd } from "./end.js";
import { IdleWatch } from "./idle-watch.js";
import { KeptRuntime } from "./kept-runtime.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { TenureParts } from "./parts.js";
import type { TenureOptions } from "./tenure-options.js";

/** How a tenure ended. */
export interface TenureResult {
  readonly reason: ParkReason;
  /** A wave committed: the failure-park backoff is cleared (seed 001 §1). */
  readonly committed: boolean;
  readonly error?: unknown;
  /** What an idle park offers to the host for the space's next tenure (§1, Parking). */
  readonly kept?: KeptRuntime;
}

/** Asks the host for the runtime that the last tenure left; the asker holds the lease. */
export type TakeKept = (served: ServedSpace) => KeptRuntime | undefined;

/** One tenure of one space: from the acquire of its lease to its release (seed 001 §1, §2). */
export class SpaceServer {
  readonly space: SpaceId;
  readonly #options: TenureOptions;
  readonly #takeKept: TakeKept;
  readonly #lease: LeaseKeeper;
  readonly #wake: Wake;
  readonly #idle: IdleWatch;
  readonly #warm = new Set<InstanceKey>();
  /** Verbs that came before there was anybody to run them. */
  #asked: VerbRequest[] = [];
  readonly #subscriptions: { close(): void }[] = [];
  #parts: TenureParts | undefined;
  /** The parts were kept by a predecessor, and this tenure has not served with them yet. */
  #borrowed = false;
  #ending: ParkReason | undefined;
  #wavesBefore = 0;
  #serving = false;
  /** It has served: who was told of its begin is told of its end. */
  #began = false;

  constructor(options: TenureOptions, takeKept: TakeKept = () => undefined) {
    this.#options = options;
    this.#takeKept = takeKept;
    const { served, holder, clock, policy, gates } = options;
    this.space = served.space;
    this.#wake = new Wake(clock);
    this.#idle = new IdleWatch(clock, policy.idleParkMs, () => this.#idledOut());
    this.#lease = new LeaseKeeper({
      lease: served.engine.lease,
      holder,
      clock,
      ttlMs: policy.leaseTtlMs,
      renewMs: policy.leaseRenewMs,
      gate: () => gateOf(gates, served.space)("lease:before-renew"),
      onStep: () => void served.refresh(),
      onLost: () => this.#lost(),
    });
  }

  /** Whether the loop runs: after activation, before the park. */
  get serving(): boolean {
    return this.#serving;
  }

  /** Objects this tenure holds: copies and effects in flight, timers, open waves. */
  get held(): number {
    const parts = this.#parts;
    if (parts === undefined) return 0;
    const { drain, effects, accumulator } = parts;
    return drain.inFlight + drain.timers + effects.held + (accumulator.open.isEmpty ? 0 : 1);
  }

  /**
   * Staged instances of a warm request: demand of this tenure (seed 001 §1). False where the tenure is
   * on its way out: the request is then its successor's.
   */
  warm(keys: Iterable<InstanceKey>): boolean {
    if (this.#ending !== undefined) return false;
    const added = [...keys];
    for (const key of added) this.#warm.add(key);
    this.#options.stats.demand.warmWakes += 1;
    this.#parts?.demand.warm(added);
    this.#wake.signal();
    return true;
  }

  /** A lifecycle verb of the space's; false as {@link SpaceServer.warm} has it (seed 001 §1). */
  ask(request: VerbRequest): boolean {
    if (this.#ending !== undefined) return false;
    if (this.#parts === undefined) this.#asked.push(request);
    else this.#parts.verbs.add(request);
    this.#wake.signal();
    return true;
  }

  /** Sessions came or went, or another reason to look at the activation criteria again. */
  poke(): void {
    this.#wake.signal();
  }

  /** Ends the tenure at its next step; idempotent, the first reason stands. */
  end(reason: ParkReason): void {
    this.#ending ??= reason;
    // At once: what is held back leaves for no tenure that is on its way out (seed 001 §5).
    this.#parts?.effects.close();
    this.#wake.signal();
  }

  /** Gives the lease back though the tenure has not ended: the last resort of a stop's deadline. */
  abandon(): void {
    this.#ending ??= "stopped";
    this.#releaseLease();
    this.#refuseVerbs("stopped");
  }

  /** Serves until the tenure ends. Never rejects. */
  async run(): Promise<TenureResult> {
    const { stats, report } = this.#options;
    this.#wavesBefore = stats.counts.derivedCommits;
    let result: { readonly reason: ParkReason; readonly error?: unknown };
    try {
      result = { reason: await this.#serve() };
    } catch (error) {
      result = { reason: this.#ending ?? parkReasonOf(error), error };
      report({ kind: "tenure-failed", space: this.space, error });
    }
    const kept = await this.#teardown(result.reason);
    this.#refuseVerbs(result.reason, result.error);
    if (this.#began) report({ kind: "tenure-ended", space: this.space, reason: result.reason });
    const committed = stats.counts.derivedCommits > this.#wavesBefore;
    return { ...result, committed, ...(kept === undefined ? {} : { kept }) };
  }

  async #serve(): Promise<ParkReason> {
    const { stats, gates, report } = this.#options;
    if (!this.#lease.acquire()) return "rival";
    stats.lease.held = 1;
    await gates.pass("activate:after-lease", { space: this.space });
    if (this.#ending !== undefined) return this.#ending;
    this.#initialize();
    // Synchronous work may have delayed every timer: the row itself is asked before launch (§2).
    if (!this.#lease.confirm()) throw new TenureEnd("lapse");
    const reused = this.#borrowed;
    if (reused) stats.parkedRuntimes.reused += 1;
    this.#borrowed = false;
    this.#serving = true;
    this.#began = true;
    report({ kind: "tenure-began", space: this.space, reused });
    return this.#loop();
  }

  #initialize(): void {
    const { served } = this.#options;
    served.refresh();
    const parts = this.#partsToServeWith();
    this.#parts = parts;
    parts.enter({
      wake: () => this.#wake.signal(),
      // A graceful stop lets the cycle that runs commit; every other end stops commits at once.
      live: () => this.#lease.held && (this.#ending === undefined || this.#ending === "stopped"),
      staying: () => this.#ending === undefined,
      onYield: () => this.#lease.renewIfDue(),
      confirmLease: () => this.#lease.confirm(),
      leaseLives: () => this.#leaseLives(),
    });
    parts.demand.warm(this.#warm);
    for (const request of this.#asked.splice(0)) parts.verbs.add(request);
    this.#subscriptions.push(
      served.onDemand(({ watches, growths }) => {
        const { demand } = this.#options.stats;
        demand.watchWakes += watches;
        demand.pushGrowthWakes += growths;
        if (growths > 0) parts.coverage.grew();
        parts.demand.arm();
        this.#wake.signal();
      }),
    );
    this.#wake.signal();
  }

  /** Those of the predecessor, as they stand, where nothing has happened since its park; else fresh ones. */
  #partsToServeWith(): TenureParts {
    const kept = this.#takeKept(this.#options.served)?.take();
    this.#borrowed = kept !== undefined;
    return kept ?? new TenureParts(this.#options);
  }

  async #loop(): Promise<ParkReason> {
    const parts = this.#parts as TenureParts;
    const maintenance = new Maintenance(this.#options, () => this.#wake.signal());
    this.#subscriptions.push(maintenance);
    for (;;) {
      await this.#wake.wait();
      if (this.#ending !== undefined) return this.#ending;
      const end = await parts.loop.cycle();
      if (this.#ending !== undefined) return this.#ending;
      if (end.again) this.#wake.signal();
      maintenance.step(parts, end.atRest);
      this.#idle.look(!end.atRest || this.#needed());
    }
  }

  #needed(): boolean {
    return this.#options.served.liveSessions() > 0;
  }

  /** The countdown ended: it is looked at once more, with everything that came meanwhile. */
  #idledOut(): void {
    const parts = this.#parts;
    if (this.#wake.signalled || parts?.inbox.isEmpty === false || this.#needed()) return;
    this.end("idle");
  }

  /**
   * The renew arm (seed 001 §2): commits have stopped by now, and the lease is asked for once more. A tenure
   * that a lapse took nothing from goes on under the row it got back; one whose wave it aborted parks
   * all the same, and one that a rival refuses leaves the space to it.
   */
  #lost(): void {
    const { stats, report } = this.#options;
    stats.lease.lost += 1;
    stats.lease.held = 0;
    if (this.#ending !== undefined) return;
    if (!this.#serving) return this.end("lapse");
    try {
      this.#acquireAgain(this.#parts?.uncommitted !== false);
    } catch (error) {
      // It comes from a timer: nobody above would hear of it, and the other spaces go on.
      report({ kind: "tenure-failed", space: this.space, error });
      this.end("lapse");
    }
  }

  #acquireAgain(aborts: boolean): void {
    if (!this.#lease.acquire()) return this.end("rival");
    this.#options.stats.lease.held = 1;
    if (aborts) return this.end("lapse");
    this.#options.served.refresh();
    this.#parts?.resume();
    this.#wake.signal();
  }

  /** What a lapse takes with it is withheld; what it does not, is read under the lease that came back. */
  #leaseLives(): boolean {
    if (this.#lease.live) return true;
    this.#lease.confirm();
    return this.#lease.held && this.#ending === undefined;
  }

  /** Every step is tried whatever an earlier one threw: the lease goes back, and the runtime goes (§2). */
  async #teardown(reason: ParkReason): Promise<KeptRuntime | undefined> {
    const { gates } = this.#options;
    this.#serving = false;
    this.#ending ??= reason;
    this.#parts?.effects.close();
    this.#idle.close();
    if (this.#lease.held) {
      await this.#quietly(() => gates.pass("park:before", { space: this.space }));
    }
    for (const subscription of this.#subscriptions) {
      await this.#quietly(() => subscription.close());
    }
    const kept = this.#offer(reason);
    if (kept === undefined) await this.#quietly(() => this.#parts?.leave());
    if (reason !== "rival") this.#releaseLease();
    if (kept === undefined) await this.#dispose();
    return kept;
  }

  /** An idle park that leaves exactly an idle state over the head, under its own lease, offers it (§1, Parking). */
  #offer(reason: ParkReason): KeptRuntime | undefined {
    const { policy, report } = this.#options;
    const parts = this.#parts;
    if (reason !== "idle" || parts === undefined) return undefined;
    if (policy.parkedRuntimeRetentionMs === 0 || policy.maxParkedRuntimes === 0) return undefined;
    try {
      if (!parts.atRest || !this.#lease.live) return undefined;
      parts.leave();
      return new KeptRuntime(parts, this.#options);
    } catch (error) {
      report({ kind: "tenure-failed", space: this.space, error });
      return undefined;
    }
  }

  /** Whoever asked may ask again; nothing here does (seed 001 §2). */
  #refuseVerbs(reason: ParkReason, error?: unknown): void {
    const left = [...this.#asked.splice(0), ...(this.#parts?.verbs.drop() ?? [])];
    for (const request of left) request.notServed(reason, error);
  }

  #releaseLease(): void {
    this.#options.stats.lease.held = 0;
    try {
      this.#lease.release();
    } catch (error) {
      this.#options.report({ kind: "tenure-failed", space: this.space, error });
    }
  }

  async #dispose(): Promise<void> {
    if (this.#borrowed) this.#options.stats.parkedRuntimes.discarded += 1;
    await disposeParts(this.#parts, this.#options);
  }

  async #quietly(work: () => Promise<void> | void | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.report({ kind: "tenure-failed", space: this.space, error });
    }
  }
}
