import type {
  Held,
  InstanceKey,
  Principal,
  Seq,
  SessionId,
  ValueOperation,
} from "@tidemark/protocol";
import { closeOver, type Closed, type FallenKeys, type Losses } from "./closure.js";
import type { Contribution, FiredBy, RunWrite } from "./contribution.js";
import { readsIntruded, rebases } from "./rebase.js";
import { supersede } from "./supersede.js";
import { tornWrites, type Torn } from "./torn.js";

/** A stored change that this tenure's own derived commits do not account for. */
export interface Intrusion {
  readonly seq: Seq;
  readonly op: ValueOperation;
  readonly authored: boolean;
  readonly principal?: Principal;
  readonly session?: SessionId;
}

/** The store as the plan sees it, inside the wave's own transaction. */
export interface PlanView {
  /** Intrusions on one instance with `seq > after`, oldest first. */
  intrusions(key: InstanceKey, after: Seq): readonly Intrusion[];
  /** Seq of the instance's last change; 0 when never written. */
  head(key: InstanceKey): Seq;
  read(key: InstanceKey): Held;
}

/** Why an event went back to pending, or a run was withdrawn. */
export type Reason =
  /** Its write lost to another session's write to the same field, or to one it had read. */
  | "raced"
  /** Its writes no longer apply to what stands. */
  | "inapplicable"
  /** It read what another contribution of the wave lost. */
  | "read-withdrawn"
  /** An earlier event of its stream was requeued (R16). */
  | "stream-order"
  /** A contribution of the same event was withdrawn. */
  | "sibling"
  /** Its emitter did not land: there is no entry behind it (seed 000 §4, α3). */
  | "orphan"
  /** A precondition it carried failed. */
  | "precondition"
  /** What it asks of the access list was refused since its seal, or has no durable entry to rest on. */
  | "access";

/** What becomes of a contribution. */
export type Fate =
  | { readonly kind: "lands"; readonly writes: readonly RunWrite[] }
  | { readonly kind: "requeued"; readonly reason: Reason }
  /** A derivation withdrawn whole for what it read: its node is armed again. */
  | { readonly kind: "withdrawn"; readonly reason: Reason }
  /**
   * Bookkeeping that conflicted, an in-process copy without an entry, or a derivation whose precondition
   * failed: nothing is armed, and what depends on it or demands it decides (seed 001 §3d).
   */
  | { readonly kind: "dropped"; readonly reason: Reason };

/** The decision of one wave. */
export interface WavePlan {
  readonly fates: ReadonlyMap<number, Fate>;
  /** Writes of landing contributions that do not land, by contribution. */
  readonly lost: Losses;
  /** What later contributions may have read and is not there. */
  readonly fallen: FallenKeys;
  /** Instances that a landing write was rebased on, and the last of the intrusions that it landed over. */
  readonly rebased: ReadonlyMap<InstanceKey, Seq>;
  readonly supersededWrites: number;
  readonly orphans: number;
  /** Receipts of landing contributions that stand already, and stay as they are. */
  readonly standing: ReadonlyMap<number, InstanceKey>;
}

interface Judgement {
  readonly kept: readonly RunWrite[];
  readonly lost: ReadonlySet<InstanceKey>;
  readonly failure?: Reason;
}

/**
 * Decides a wave per document and write class (seed 001 §3d). Pure: everything it knows of the store
 * it asks of `view`. `refused` are contributions that an earlier attempt found not to land, and why.
 */
export function planWave(
  contributions: readonly Contribution[],
  view: PlanView,
  refused: ReadonlyMap<number, Reason> = new Map(),
): WavePlan {
  const planner = new Planner(view);
  const judgements = new Map<number, Judgement>();
  for (const contribution of contributions) {
    const failure =
      refused.get(contribution.id) ?? contribution.unfit ?? planner.outrun(contribution);
    judgements.set(
      contribution.id,
      failure === undefined ? planner.judge(contribution) : { kept: [], lost: new Set(), failure },
    );
  }
  return planner.conclude(contributions, judgements);
}

class Planner {
  readonly #view: PlanView;
  readonly #rebased = new Map<InstanceKey, Seq>();
  readonly #standing = new Map<number, InstanceKey>();
  #supersededWrites = 0;

  constructor(view: PlanView) {
    this.#view = view;
  }

  /** What it saw a direct commit make is not the head any more (seed 001 §3e). */
  outrun({ observed }: Contribution): Reason | undefined {
    for (const [key, seq] of observed ?? []) if (this.#view.head(key) !== seq) return "raced";
    return undefined;
  }

  judge(contribution: Contribution): Judgement {
    switch (contribution.kind) {
      case "derivation":
        return this.#judgeDerivation(contribution);
      case "event-handler":
      case "bookkeeping":
        return this.#judgeRebasing(contribution);
    }
  }

  conclude(contributions: readonly Contribution[], judgements: Map<number, Judgement>): WavePlan {
    const lost = new Map<number, ReadonlySet<InstanceKey>>();
    const failed = new Map<number, Reason>();
    for (const [id, judgement] of judgements) {
      if (judgement.lost.size > 0) lost.set(id, judgement.lost);
      if (judgement.failure !== undefined) failed.set(id, judgement.failure);
    }
    let closed = closeOver(contributions, { lost, failed });
    // What falls takes away what others of the wave wrote into.
    for (;;) {
      const torn = this.#torn(contributions, closed, judgements);
      if (torn.length === 0) break;
      for (const one of torn) this.#decideTorn(one, closed.fallen, judgements, failed);
      closed = closeOver(contributions, { lost, failed });
    }
    const { withdrawn, fallen } = closed;
    const fates = new Map<number, Fate>();
    for (const contribution of contributions) {
      const reason = withdrawn.get(contribution.id);
      fates.set(
        contribution.id,
        reason === undefined
          ? { kind: "lands", writes: keptOf(contribution, judgements) }
          : fateOf(contribution, reason),
      );
    }
    return {
      fates,
      lost,
      fallen,
      rebased: this.#rebased,
      supersededWrites: this.#supersededWrites,
      orphans: countOrphans(contributions, withdrawn),
      standing: new Map([...this.#standing].filter(([id]) => !withdrawn.has(id))),
    };
  }

  /** Pure derivation writes are dropped per document: they are derived again or not wanted. */
  #judgeDerivation(contribution: Contribution): Judgement {
    const kept: RunWrite[] = [];
    const lost = new Set<InstanceKey>();
    for (const write of contribution.writes) {
      if (lost.has(write.key) || this.#intruded(contribution, write.key)) {
        if (!lost.has(write.key)) this.#supersededWrites += 1;
        lost.add(write.key);
        continue;
      }
      kept.push(write);
    }
    return { kept, lost };
  }

  /** A handler's writes are superseded by its sender, then rebased; or its event goes back. */
  #judgeRebasing(contribution: Contribution): Judgement {
    const kept: RunWrite[] = [];
    const lost = new Set<InstanceKey>();
    for (const [key, writes] of byInstance(contribution.writes)) {
      const judged = this.#judgeDocument(contribution, key, writes);
      if (typeof judged === "string") return { kept: [], lost: new Set(), failure: judged };
      if (judged.dropped) lost.add(key);
      kept.push(...judged.kept);
    }
    return { kept, lost };
  }

  #judgeDocument(
    contribution: Contribution,
    key: InstanceKey,
    writes: readonly RunWrite[],
  ): { readonly kept: readonly RunWrite[]; readonly dropped: boolean } | Reason {
    const stands = writes.some(isOnce) && this.#stands(key);
    // A receipt where nothing was ever stored: nothing can have come between.
    if (!stands && writes.every(isOnce)) return { kept: writes, dropped: false };
    if (stands) this.#standing.set(contribution.id, key);
    const due = stands ? writes.filter((write) => !isOnce(write)) : writes;
    const { kept, dropped } = supersede(due, this.#laterOf(contribution, key));
    if (kept.length === 0) return { kept, dropped };
    const intrusions = this.#intrusions(contribution, key);
    if (intrusions.length === 0) return { kept, dropped };
    for (const theirs of intrusions) {
      if (!kept.every((write) => rebases(write.op, theirs.op))) return "raced";
      if (readsIntruded(contribution.reads, key, theirs.op)) return "raced";
    }
    this.#rebaseOver(key, intrusions);
    return { kept, dropped };
  }

  /**
   * What does not apply once everything has fallen or been rebased that does: where neither happened to an
   * instance, its writes rest on what their runs saw.
   */
  #torn(
    contributions: readonly Contribution[],
    { withdrawn, fallen }: Closed,
    judgements: ReadonlyMap<number, Judgement>,
  ): readonly Torn[] {
    if (fallen.size === 0 && this.#rebased.size === 0) return [];
    const landing = contributions
      .filter(({ id }) => !withdrawn.has(id))
      .map((contribution) => ({
        contribution,
        writes: keptOf(contribution, judgements).filter(
          ({ key }) => fallen.has(key) || this.#rebased.has(key),
        ),
      }));
    return tornWrites(landing, (key) => this.#view.read(key).value);
  }

  /**
   * It rests on what a contribution before it had made, or on what a rival changed, and runs again. Where its own
   * sender's later writes took it away, they have superseded the rest as well: a rerun would meet them again.
   */
  #decideTorn(
    { contribution, key }: Torn,
    fallen: FallenKeys,
    judgements: Map<number, Judgement>,
    failed: Map<number, Reason>,
  ): void {
    const { id } = contribution;
    const judgement = judgements.get(id);
    const ownLoss = judgement?.lost.has(key) === true && fallen.get(key) === id;
    if (judgement !== undefined && ownLoss && !this.#intruded(contribution, key)) {
      judgements.set(id, { ...judgement, kept: judgement.kept.filter((one) => one.key !== key) });
    } else failed.set(id, "inapplicable");
  }

  #rebaseOver(key: InstanceKey, intrusions: readonly Intrusion[]): void {
    const known = this.#rebased.get(key);
    const last = intrusions.at(-1)?.seq;
    if (last !== undefined && (known === undefined || known < last)) this.#rebased.set(key, last);
  }

  #intruded(contribution: Contribution, key: InstanceKey): boolean {
    return this.#intrusions(contribution, key).length > 0;
  }

  /** A direct commit that it has seen is none to it, nor is what that commit rested on. */
  #intrusions({ basis, observed }: Contribution, key: InstanceKey): readonly Intrusion[] {
    return this.#view.intrusions(key, observed?.get(key) ?? basis);
  }

  /** A receipt lands only where nothing stands: whoever wrote it first was this same handling (seed 000 §4). */
  #stands(key: InstanceKey): boolean {
    return this.#view.head(key) > 0;
  }

  #laterOf(contribution: Contribution, key: InstanceKey): readonly ValueOperation[] {
    const { delivery } = contribution;
    if (delivery?.place === undefined || delivery.firedBy === undefined) return [];
    const { firedBy } = delivery;
    return this.#view
      .intrusions(key, delivery.place.seq)
      .filter((intrusion) => isBy(intrusion, firedBy))
      .map((intrusion) => intrusion.op);
  }
}

function isOnce(write: RunWrite): boolean {
  return write.once === true;
}

function isBy(intrusion: Intrusion, firedBy: FiredBy): boolean {
  return (
    intrusion.authored &&
    intrusion.session === firedBy.session &&
    intrusion.principal === firedBy.user
  );
}

function byInstance(writes: readonly RunWrite[]): ReadonlyMap<InstanceKey, RunWrite[]> {
  const grouped = new Map<InstanceKey, RunWrite[]>();
  for (const write of writes) {
    const group = grouped.get(write.key);
    if (group === undefined) grouped.set(write.key, [write]);
    else group.push(write);
  }
  return grouped;
}

function keptOf(
  { id }: Pick<Contribution, "id">,
  judgements: ReadonlyMap<number, Judgement>,
): readonly RunWrite[] {
  return judgements.get(id)?.kept ?? [];
}

function fateOf(contribution: Contribution, reason: Reason): Fate {
  switch (contribution.kind) {
    case "derivation":
      return { kind: reason === "precondition" ? "dropped" : "withdrawn", reason };
    case "bookkeeping":
      return { kind: "dropped", reason };
    case "event-handler":
      return reason === "orphan" ? { kind: "dropped", reason } : { kind: "requeued", reason };
  }
}

/** Once per event, however many contributions it made (seed 000 §4, W3 review M1). */
function countOrphans(
  contributions: readonly Contribution[],
  withdrawn: ReadonlyMap<number, Reason>,
): number {
  const events = new Set<string>();
  for (const { id, delivery } of contributions) {
    if (delivery === undefined || withdrawn.get(id) !== "orphan") continue;
    events.add(`${delivery.stream} ${delivery.eventId}`);
  }
  return events.size;
}
