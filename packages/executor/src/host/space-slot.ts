import type { ServedSpace } from "@tidemark/memory-engine";
import type { Cancellable, Clock, InstanceKey, SpaceId } from "@tidemark/protocol";
import type { ServingPolicy } from "../policy.js";
import type { VerbRequest } from "../lifecycle/request.js";
import type { SpaceStats } from "../stats/counters.js";
import type { ServingReport } from "../tenure/report.js";
import type { KeptRuntime } from "../tenure/kept-runtime.js";
import type { SpaceServer, TenureResult } from "../tenure/space-server.js";
import { activationDelay } from "./backoff.js";
import { afterPark, meetsCriteria, type ActivationCriteria } from "./park.js";

/** What a slot needs of its host. */
export interface SlotHost {
  readonly clock: Clock;
  readonly policy: ServingPolicy;
  readonly stats: (space: SpaceId) => SpaceStats;
  readonly served: (space: SpaceId) => ServedSpace;
  /** Opens the store and makes a tenure over it. @throws StorageError */
  readonly open: (space: SpaceId) => SpaceServer;
  /** An idle park left its runtime for the space's next tenure. */
  readonly keep: (kept: KeptRuntime) => void;
  /** Nobody needs the space: its store may be closed, unless somebody has it open after all. */
  readonly release: (space: SpaceId) => void;
  readonly report: (report: ServingReport) => void;
}

/** An explicit warm request: outstanding until a tenure that received it parks idle (seed 001 §1). */
interface WarmRequest {
  readonly instances: readonly InstanceKey[];
  /** The tenure that runs now has it. */
  received: boolean;
}

/**
 * One space in its host: at most one tenure, the backoff between two of them, and the warm requests
 * that no tenure has answered yet (seed 001 §1).
 */
export class SpaceSlot {
  readonly #space: SpaceId;
  readonly #host: SlotHost;
  #warm: WarmRequest[] = [];
  /** Verbs that no tenure has received. */
  #asked: VerbRequest[] = [];
  #server: SpaceServer | undefined;
  #running: Promise<void> | undefined;
  #backoff: Cancellable | undefined;
  #failures = 0;
  #stopped = false;

  constructor(space: SpaceId, host: SlotHost) {
    this.#space = space;
    this.#host = host;
  }

  get isActive(): boolean {
    return this.#server?.serving === true;
  }

  get held(): number {
    return (this.#server?.held ?? 0) + (this.#backoff === undefined ? 0 : 1);
  }

  /** A trigger: activates the space if it meets the criteria and nothing of it is under way. */
  consider(): void {
    if (this.#server !== undefined) {
      this.#server.poke();
      return;
    }
    if (this.#stopped || this.#backoff !== undefined) return;
    if (meetsCriteria(this.#criteria())) this.#activate();
  }

  /** An explicit warm request. One that races a park is carried into the successor. */
  warm(instances: readonly InstanceKey[]): void {
    this.#host.stats(this.#space).counts.warmRequests += 1;
    const received = this.#server?.warm(instances) === true;
    this.#warm.push({ instances, received });
    this.consider();
  }

  /** A lifecycle verb: it is for the tenure that runs now, or for the next one and no other (seed 001 §1, §2). */
  ask(request: VerbRequest): void {
    if (this.#server?.ask(request) !== true) this.#asked.push(request);
    this.consider();
  }

  /** Nothing of the space is held any more, but where a tenure is under way. */
  unused(): void {
    if (this.#server !== undefined) return;
    try {
      this.#host.release(this.#space);
    } catch (error) {
      // Nobody waits for it, and the next who needs the space opens it anew.
      this.#host.report({ kind: "tenure-failed", space: this.#space, error });
    }
  }

  /** Ends the tenure, and gives its lease back by the deadline at the latest. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#backoff?.cancel();
    this.#backoff = undefined;
    for (const request of this.#asked.splice(0)) request.notServed("stopped");
    const server = this.#server;
    if (server === undefined || this.#running === undefined) return;
    server.end("stopped");
    const { clock, policy } = this.#host;
    const running = this.#running;
    await new Promise<void>((resolve) => {
      const timer = clock.timer(policy.parkDisposeTimeoutMs, () => {
        server.abandon();
        resolve();
      });
      void running.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #criteria(): ActivationCriteria {
    const waiting = { warmRequests: this.#warm.length, verbs: this.#asked.length };
    try {
      const served = this.#host.served(this.#space);
      return {
        liveSessions: served.liveSessions(),
        undelivered: served.engine.entries.backlog(),
        ...waiting,
      };
    } catch {
      // The activation opens the store itself, and counts as failed where that fails too (§1).
      return { liveSessions: 0, undelivered: "unknown", ...waiting };
    }
  }

  #activate(): void {
    let server: SpaceServer;
    try {
      server = this.#host.open(this.#space);
    } catch (error) {
      this.#host.report({ kind: "tenure-failed", space: this.#space, error });
      for (const request of this.#asked.splice(0)) request.notServed("failed", error);
      this.#parked({ reason: "failed", committed: false, error });
      return;
    }
    this.#server = server;
    for (const request of this.#warm) request.received = server.warm(request.instances);
    for (const request of this.#asked.splice(0)) server.ask(request);
    this.#running = server.run().then((result) => this.#parked(result));
  }

  /** A park has completed: backoff, and whether the space is looked at again (seed 001 §1). */
  #parked(result: TenureResult): void {
    this.#server = undefined;
    this.#running = undefined;
    if (result.kept !== undefined) this.#host.keep(result.kept);
    if (result.committed) this.#failures = 0;
    this.#handBack(result.reason === "idle");
    const next = afterPark(result.reason, this.#failures);
    this.#failures = next.failures;
    // A verb that came during the park is a trigger of its own, where the criteria are left alone too.
    if (this.#stopped || !(next.reevaluate || this.#asked.length > 0)) return;
    const { clock, policy } = this.#host;
    const delay = activationDelay(this.#failures, {
      baseMs: policy.activationBackoffMs,
      capMs: policy.activationBackoffCapMs,
    });
    if (delay === 0) {
      this.consider();
      if (result.reason === "idle" && result.kept === undefined) this.unused();
      return;
    }
    this.#backoff = clock.timer(delay, () => {
      this.#backoff = undefined;
      this.consider();
    });
  }

  /** The idle park is the tenure's own verdict that nothing is left of what it was asked for; no other end is. */
  #handBack(answered: boolean): void {
    if (answered) this.#warm = this.#warm.filter(({ received }) => !received);
    for (const request of this.#warm) request.received = false;
  }
}
