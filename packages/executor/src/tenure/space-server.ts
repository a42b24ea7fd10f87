import type { InstanceKey, SpaceId } from "@tidemark/protocol";
import type { ParkReason } from "../host/park.js";
import { Maintenance } from "../loop/maintenance.js";
import { gateOf } from "../loop/loop.js";
import { Wake } from "../loop/wake.js";
import { parkReasonOf, TenureEnd } from "./end.js";
import { IdleWatch } from "./idle-watch.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { TenureParts, type TenureOptions } from "./parts.js";

/** How a tenure ended. */
export interface TenureResult {
  readonly reason: ParkReason;
  /** A wave committed: the failure-park backoff is cleared (seed 001 §1). */
  readonly committed: boolean;
  readonly error?: unknown;
}

/** One tenure of one space: from the acquire of its lease to its release (seed 001 §1, §2). */
export class SpaceServer {
  readonly space: SpaceId;
  readonly #options: TenureOptions;
  readonly #lease: LeaseKeeper;
  readonly #wake: Wake;
  readonly #idle: IdleWatch;
  readonly #warm = new Set<InstanceKey>();
  readonly #subscriptions: { close(): void }[] = [];
  #parts: TenureParts | undefined;
  #ending: ParkReason | undefined;
  #wavesBefore = 0;
  #serving = false;

  constructor(options: TenureOptions) {
    this.#options = options;
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

  /** Objects this tenure holds: copies in flight, timers, open waves. */
  get held(): number {
    const parts = this.#parts;
    if (parts === undefined) return 0;
    return parts.drain.inFlight + parts.drain.timers + (parts.accumulator.open.isEmpty ? 0 : 1);
  }

  /** Staged instances of a warm request: demand of this tenure (seed 001 §1). */
  warm(keys: Iterable<InstanceKey>): void {
    const added = [...keys];
    for (const key of added) this.#warm.add(key);
    this.#options.stats.demand.warmWakes += 1;
    this.#parts?.demand.warm(added);
    this.#wake.signal();
  }

  /** Sessions came or went, or another reason to look at the activation criteria again. */
  poke(): void {
    this.#wake.signal();
  }

  /** Ends the tenure at its next step; idempotent, the first reason stands. */
  end(reason: ParkReason): void {
    this.#ending ??= reason;
    this.#wake.signal();
  }

  /** Gives the lease back though the tenure has not ended: the last resort of a stop's deadline. */
  abandon(): void {
    this.#ending ??= "stopped";
    this.#releaseLease();
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
    await this.#teardown(result.reason);
    return { ...result, committed: stats.counts.derivedCommits > this.#wavesBefore };
  }

  async #serve(): Promise<ParkReason> {
    const { stats, gates } = this.#options;
    if (!this.#lease.acquire()) return "rival";
    stats.lease.held = 1;
    await gates.pass("activate:after-lease", { space: this.space });
    this.#initialize();
    // Synchronous work may have delayed every timer: the row itself is asked before launch (§2).
    if (!this.#lease.confirm()) throw new TenureEnd("lapse");
    this.#serving = true;
    return this.#loop();
  }

  #initialize(): void {
    const { served } = this.#options;
    served.refresh();
    const parts = new TenureParts(this.#options, {
      wake: () => this.#wake.signal(),
      // A graceful stop lets the cycle that runs commit; every other end stops commits at once.
      live: () => this.#lease.held && (this.#ending === undefined || this.#ending === "stopped"),
      onYield: () => this.#lease.renewIfDue(),
      confirmLease: () => this.#lease.confirm(),
    });
    this.#parts = parts;
    parts.demand.warm(this.#warm);
    parts.inbox.open(parts.replica.seq);
    this.#subscriptions.push(
      served.onDemand(() => {
        this.#options.stats.demand.watchWakes += 1;
        parts.demand.arm();
        this.#wake.signal();
      }),
    );
    this.#wake.signal();
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

  #lost(): void {
    this.#options.stats.lease.lost += 1;
    this.#options.stats.lease.held = 0;
    this.end("lapse");
  }

  async #teardown(reason: ParkReason): Promise<void> {
    const { gates } = this.#options;
    this.#serving = false;
    this.#ending ??= reason;
    this.#idle.close();
    const held = this.#lease.held;
    if (held) await this.#quietly(() => gates.pass("park:before", { space: this.space }));
    for (const subscription of this.#subscriptions) subscription.close();
    this.#parts?.inbox.close();
    this.#parts?.drain.close();
    if (reason !== "rival") this.#releaseLease();
    await this.#dispose();
  }

  #releaseLease(): void {
    this.#options.stats.lease.held = 0;
    try {
      this.#lease.release();
    } catch (error) {
      this.#options.report({ kind: "tenure-failed", space: this.space, error });
    }
  }

  /** Teardown has a deadline: a dispose that hangs is abandoned, the lease is free by then (LS-10). */
  async #dispose(): Promise<void> {
    const { clock, policy, gates, stats, report } = this.#options;
    const disposed = this.#quietly(async () => {
      await gates.pass("dispose:before", { space: this.space });
      this.#parts?.runtime.dispose();
      this.#parts?.scheduler.dispose();
      this.#parts?.replica.clear();
    });
    const late = new Promise<"late">((resolve) => {
      const timer = clock.timer(policy.parkDisposeTimeoutMs, () => resolve("late"));
      void disposed.then(() => timer.cancel());
    });
    if ((await Promise.race([disposed, late])) !== "late") return;
    stats.counts.disposeTimeouts += 1;
    report({ kind: "dispose-late", space: this.space, afterMs: policy.parkDisposeTimeoutMs });
  }

  async #quietly(work: () => Promise<void> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.report({ kind: "tenure-failed", space: this.space, error });
    }
  }
}
