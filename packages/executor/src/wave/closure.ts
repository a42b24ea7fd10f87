import type { InstanceKey } from "@tidemark/protocol";
import { writtenKeys, type Contribution } from "./contribution.js";
import type { Reason } from "./plan.js";

/** Per contribution, the instances on which its writes do not land though it does. */
export type Losses = ReadonlyMap<number, ReadonlySet<InstanceKey>>;

/**
 * Per instance, the first unaccepted contribution whose write to it does not land: whatever was sealed
 * after it and read the instance may have read what is not there. Conservative at document granularity
 * (seed 001 §3d).
 */
export type FallenKeys = ReadonlyMap<InstanceKey, number>;

/** Where a closure begins. */
export interface ClosureSeeds {
  readonly lost: Losses;
  /** Contributions that do not land at all, and why. */
  readonly failed: ReadonlyMap<number, Reason>;
  /** What an earlier wave lost: for contributions sealed while that wave was committing. */
  readonly fallen?: FallenKeys;
}

/** What falls with the seeds. */
export interface Closed {
  /** Contributions that do not land, and why. */
  readonly withdrawn: ReadonlyMap<number, Reason>;
  readonly fallen: FallenKeys;
}

/**
 * Everything that falls with the seeds (seed 001 §3d, R16): readers of what was lost, later events of
 * a requeued event's stream, its cascade, and its siblings. Contributions depend on ones sealed before
 * them, siblings aside, so that a further round happens only where something fell.
 */
export function closeOver(contributions: readonly Contribution[], seeds: ClosureSeeds): Closed {
  const closure = new Closure(contributions, seeds);
  if (closure.needed()) {
    while (closure.round()) {
      // Another round: something fell.
    }
  }
  return closure.result();
}

/** An in-process copy of an event of this wave (LT1): it stands by its emitter alone. */
function isCopy({ delivery }: Contribution): boolean {
  return delivery !== undefined && delivery.place === undefined;
}

class Closure {
  readonly #contributions: readonly Contribution[];
  readonly #known: ReadonlyMap<number, Contribution>;
  readonly #withdrawn: Map<number, Reason>;
  readonly #fallen: Map<InstanceKey, number>;

  constructor(contributions: readonly Contribution[], seeds: ClosureSeeds) {
    this.#contributions = contributions;
    this.#known = new Map(contributions.map((one) => [one.id, one]));
    this.#withdrawn = new Map(seeds.failed);
    this.#fallen = new Map(seeds.fallen);
    for (const [id, keys] of seeds.lost) for (const key of keys) this.#fell(key, id);
    for (const id of this.#withdrawn.keys()) this.#fellWhole(id);
  }

  needed(): boolean {
    return this.#withdrawn.size > 0 || this.#fallen.size > 0 || this.#contributions.some(isCopy);
  }

  result(): Closed {
    return { withdrawn: this.#withdrawn, fallen: this.#fallen };
  }

  /** One pass in sealing order; true when something fell that did not before. */
  round(): boolean {
    const before = this.#withdrawn.size;
    const heldStreams = new Set<string>();
    const fallenEvents = this.#fallenEvents();
    for (const contribution of this.#contributions) {
      if (!this.#withdrawn.has(contribution.id)) {
        const reason = this.#falls(contribution, heldStreams, fallenEvents);
        if (reason !== undefined) this.#withdraw(contribution, reason);
      }
      this.#holdStream(contribution, heldStreams);
    }
    return this.#withdrawn.size > before;
  }

  #falls(
    contribution: Contribution,
    heldStreams: ReadonlySet<string>,
    fallenEvents: ReadonlyMap<string, Reason>,
  ): Reason | undefined {
    const { delivery } = contribution;
    if (isCopy(contribution) && !this.#emitterLands(contribution)) return "orphan";
    if (this.#readsFallen(contribution)) return "read-withdrawn";
    if (this.#restsOnPrevious(contribution)) return "read-withdrawn";
    if (delivery === undefined) return undefined;
    const sibling = fallenEvents.get(eventKey(contribution));
    if (sibling !== undefined) return sibling === "orphan" ? "orphan" : "sibling";
    return heldStreams.has(delivery.stream) ? "stream-order" : undefined;
  }

  #emitterLands(contribution: Contribution): boolean {
    const emitter = contribution.delivery?.emitter;
    return emitter !== undefined && this.#known.has(emitter) && !this.#withdrawn.has(emitter);
  }

  #readsFallen(contribution: Contribution): boolean {
    return (
      contribution.reads.some(
        ({ key, space }) => space === undefined && this.#fellBefore(key, contribution.id),
      ) || contribution.elided.some((key) => this.#elidedOnFallen(key, contribution))
    );
  }

  /** Its own node's earlier write that lost to an intrusion arms nothing (seed 001 §3d, Q1). */
  #elidedOnFallen(key: InstanceKey, contribution: Contribution): boolean {
    const first = this.#fallen.get(key);
    if (first === undefined || first >= contribution.id) return false;
    const owner = this.#known.get(first);
    return owner === undefined || owner.action !== contribution.action;
  }

  #fellBefore(key: InstanceKey, reader: number): boolean {
    const first = this.#fallen.get(key);
    return first !== undefined && first < reader;
  }

  /**
   * A later run of the same node that left an output as the earlier run had made it: it falls with
   * the earlier one. One that wrote the output itself makes the old withdrawal inert.
   */
  #restsOnPrevious(contribution: Contribution): boolean {
    const { previous } = contribution;
    if (previous === undefined || !this.#withdrawn.has(previous)) return false;
    const earlier = this.#known.get(previous);
    if (earlier === undefined) return true;
    const own = writtenKeys(contribution);
    return [...writtenKeys(earlier)].some((key) => !own.has(key));
  }

  #withdraw(contribution: Contribution, reason: Reason): void {
    this.#withdrawn.set(contribution.id, reason);
    this.#fellWhole(contribution.id);
  }

  #fellWhole(id: number): void {
    const contribution = this.#known.get(id);
    if (contribution === undefined) return;
    for (const { key } of contribution.writes) this.#fell(key, id);
  }

  #fell(key: InstanceKey, id: number): void {
    const first = this.#fallen.get(key);
    if (first === undefined || id < first) this.#fallen.set(key, id);
  }

  #fallenEvents(): ReadonlyMap<string, Reason> {
    const fallen = new Map<string, Reason>();
    for (const contribution of this.#contributions) {
      const reason = this.#withdrawn.get(contribution.id);
      if (reason === undefined || contribution.delivery === undefined) continue;
      fallen.set(eventKey(contribution), reason);
    }
    return fallen;
  }

  /** An orphan holds nobody: there is no entry that comes earlier. */
  #holdStream(contribution: Contribution, heldStreams: Set<string>): void {
    const reason = this.#withdrawn.get(contribution.id);
    if (reason === undefined || reason === "orphan" || contribution.delivery === undefined) return;
    heldStreams.add(contribution.delivery.stream);
  }
}

function eventKey({ delivery }: Contribution): string {
  const place = delivery?.place;
  const at = place === undefined ? "copy" : `${place.seq}:${place.index}`;
  return `${delivery?.stream ?? ""} ${delivery?.eventId ?? ""} ${at}`;
}
