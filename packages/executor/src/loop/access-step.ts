import type { AccessRequest, ServedSpace } from "@tidemark/memory-engine";
import type { EventId, GateName } from "@tidemark/protocol";
import { TenureEnd } from "../tenure/end.js";
import { accessRequestOf } from "../wave/access.js";
import type { Contribution } from "../wave/contribution.js";
import { planWave, type Reason, type WavePlan } from "../wave/plan.js";
import { planViewOf, type OwnTenure } from "../wave/store-view.js";

/** What an {@link AccessStep} is made of. */
export interface AccessStepOptions {
  readonly served: Pick<ServedSpace, "checkAccess" | "commitAccess" | "commitDerived">;
  readonly own: OwnTenure;
  readonly pass: (gate: GateName, event: EventId) => Promise<void> | undefined;
  readonly leaseHeld: () => boolean;
  readonly confirmLease: () => boolean;
}

interface Asking {
  readonly id: number;
  readonly request: AccessRequest;
}

const NOBODY: ReadonlyMap<number, Reason> = new Map();

/**
 * What the wave's runs ask of the access list is committed first, in the order of sealing, each as a commit
 * of its actor's (seed 001 §3d). A change that landed stands whatever the wave does next: the replay of
 * its event has nothing left to change. One that the list's present state turns down costs its event the
 * wave, and the replay's seal decides it afresh.
 */
export class AccessStep {
  readonly #options: AccessStepOptions;

  constructor(options: AccessStepOptions) {
    this.#options = options;
  }

  /** The contributions that do not land for it; at once where no run asks. @throws TenureEnd */
  commit(
    contributions: readonly Contribution[],
  ): ReadonlyMap<number, Reason> | Promise<ReadonlyMap<number, Reason>> {
    const asks = contributions.some((one) => accessRequestOf(one) !== undefined);
    return asks ? this.#commit(contributions) : NOBODY;
  }

  /** A refusal may take others along, which then ask for nothing: the rest is planned again. */
  async #commit(contributions: readonly Contribution[]): Promise<ReadonlyMap<number, Reason>> {
    const refused = new Map<number, Reason>();
    const done = new Set<number>();
    for (;;) {
      const before = refused.size;
      const plan = this.#plan(contributions, refused);
      const asking = survivors(contributions, plan).filter(({ id }) => !done.has(id));
      for (const one of asking) await this.#commitOne(one, refused.size > before, refused, done);
      if (refused.size === before) return refused;
    }
  }

  /** Past the first refusal of a round the others are only looked at: what is refused anyhow costs no further round. */
  async #commitOne(
    { id, request }: Asking,
    onlyLook: boolean,
    refused: Map<number, Reason>,
    done: Set<number>,
  ): Promise<void> {
    const { served, own, pass, leaseHeld } = this.#options;
    const verdict = this.#ask(() =>
      onlyLook ? served.checkAccess(request) : served.commitAccess(own.holder, request),
    );
    if (!verdict.ok) refused.set(id, "access");
    else if (!onlyLook) done.add(id);
    if (!verdict.ok || verdict.commit === undefined) return;
    await pass("access:after-commit", request.entry.eventId);
    if (!leaseHeld()) throw new TenureEnd("lapse");
  }

  /** Which runs land as the store stands: a plan that writes nothing. */
  #plan(
    contributions: readonly Contribution[],
    refused: ReadonlyMap<number, Reason>,
  ): WavePlan | undefined {
    const { served, own } = this.#options;
    let plan: WavePlan | undefined;
    const verdict = served.commitDerived(own.holder, (tx) => {
      plan = planWave(contributions, planViewOf(tx, own), refused);
      return undefined;
    });
    if (!verdict.ok) throw this.#end(verdict.error);
    return plan;
  }

  #ask<T>(ask: () => T): T {
    try {
      return ask();
    } catch (error) {
      throw this.#end(error);
    }
  }

  /** A refused commit can be the first sign of a lapse (seed 001 §2). */
  #end(error: unknown): TenureEnd {
    return new TenureEnd(this.#options.confirmLease() ? "failed" : "lapse", error);
  }
}

function survivors(contributions: readonly Contribution[], plan: WavePlan | undefined): Asking[] {
  return contributions.flatMap((contribution) => {
    const request = accessRequestOf(contribution);
    const lands = plan?.fates.get(contribution.id)?.kind === "lands";
    return request !== undefined && lands ? [{ id: contribution.id, request }] : [];
  });
}
