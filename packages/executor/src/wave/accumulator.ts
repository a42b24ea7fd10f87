import {
  LayeredView,
  jsonEqual,
  type BaseView,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Seq,
  type ValueOperation,
} from "@tidemark/protocol";
import type { Change } from "@tidemark/scheduler";
import { BlindWrites } from "./blind.js";
import { closeOver } from "./closure.js";
import type { Contribution } from "./contribution.js";
import { DirectCommits } from "./direct.js";
import type { Fate, WavePlan } from "./plan.js";

/** What the accumulator adds to a run: its place, what it rests on, and what shows of it. */
export type Draft = Omit<Contribution, keyof Place>;

/** The replica, as far as a wave moves it. */
export interface WaveBase extends BaseView {
  readonly seq: Seq;
  get(key: InstanceKey): Held | undefined;
  accept(key: InstanceKey, value: JsonValue | undefined, seq: Seq): void;
  /** Whether anybody here holds or reads the instance; where absent, everybody might. */
  concerns?(key: InstanceKey): boolean;
  /** {@link WaveBase.accept} for an instance that concerns nobody yet: it is loaded if it ever does. */
  acceptUnseen?(key: InstanceKey, seq: Seq): void;
}

/** Everything sealed between one commit of the loop and the next. */
export class Wave {
  readonly contributions: Contribution[] = [];

  /** Whether it carries more than basis rows (R8). */
  get hasContent(): boolean {
    return this.contributions.some(
      ({ writes, delivery, sends, effect }) =>
        writes.length > 0 || delivery !== undefined || sends.length > 0 || effect !== undefined,
    );
  }

  get isEmpty(): boolean {
    return this.contributions.length === 0;
  }
}

/** What a wave's end does to the view. */
export interface Settled {
  /** Visible values that moved because layers were taken back. */
  readonly rollback: readonly Change[];
  /** Contributions of the next wave that rested on what was taken back. */
  readonly withdrawn: readonly Contribution[];
}

/**
 * The wave accumulator of seed 001 §3d: a layered view of the replica and everything sealed since.
 * Later runs read earlier ones' sealed writes.
 */
export class WaveAccumulator {
  readonly view: LayeredView;
  /** Commits beside the waves that runs which are undecided may not have seen. */
  readonly direct = new DirectCommits();
  readonly #base: WaveBase;
  readonly #lastOfNode = new Map<string, Contribution>();
  readonly #blind = new BlindWrites();
  #open = new Wave();
  #nextId = 1;

  constructor(base: WaveBase) {
    this.#base = base;
    this.view = new LayeredView(base);
  }

  /** The wave that seals enter now. */
  get open(): Wave {
    return this.#open;
  }

  /** Unaccepted contributions, of whatever wave. */
  get layers(): number {
    return this.view.size;
  }

  /** A run joins the open wave. Returns what visibly changed. */
  seal(draft: Draft): { readonly contribution: Contribution; readonly changes: readonly Change[] } {
    const layer = { ops: operationsOf(draft) };
    const nodeKey = `${draft.action} ${draft.instance}`;
    const previous = draft.kind === "derivation" ? this.#lastOfNode.get(nodeKey) : undefined;
    const reads = this.#blind.asSeen(draft.reads, this.#base.seq);
    const contribution = contributionOf(draft, reads, {
      id: this.#nextId,
      basis: this.#base.seq,
      previous: previous?.id,
      observed: this.#seenBy(draft),
      layer,
    });
    this.#nextId += 1;
    const changes = this.#moving([...layer.ops.keys()], () => {
      if (layer.ops.size > 0) this.view.push(layer);
    });
    this.#open.contributions.push(contribution);
    if (draft.kind === "derivation") this.#lastOfNode.set(nodeKey, contribution);
    return { contribution, changes };
  }

  /** Takes the open wave out for committing; seals go into a fresh one from now on. */
  close(): Wave {
    const closing = this.#open;
    this.#open = new Wave();
    return closing;
  }

  /** A wave that was not worth a commit: its basis rows ride with the next. */
  reopen(wave: Wave): void {
    this.#open.contributions.unshift(...wave.contributions);
  }

  /**
   * The wave committed at `seq`: what landed moves into the replica, the rest is taken back. `places`
   * names the instances that another commit of a split wave wrote.
   */
  accept(
    wave: Wave,
    plan: WavePlan,
    seq: Seq,
    places: ReadonlyMap<InstanceKey, Seq> = new Map(),
  ): Settled {
    const later = closeOver(this.#open.contributions, {
      lost: new Map(),
      failed: new Map(),
      fallen: plan.fallen,
    });
    const withdrawn = this.#open.contributions.filter(({ id }) => later.withdrawn.has(id));
    const disturbed = new Set<InstanceKey>(plan.fallen.keys());
    for (const { writes } of withdrawn) for (const { key } of writes) disturbed.add(key);
    const rollback = this.#moving([...disturbed], () => {
      this.#promote(wave, plan, (key) => places.get(key) ?? seq, disturbed);
      this.#takeBack(withdrawn);
    });
    return { rollback, withdrawn };
  }

  /**
   * A commit of this tenure that was no wave's: what it stored is readable at once (seed 001 §5). For
   * documents that no sealed write lies over.
   */
  absorb(key: InstanceKey, value: JsonValue | undefined, seq: Seq): readonly Change[] {
    if (this.#base.concerns?.(key) !== false) {
      return this.#moving([key], () => this.#base.accept(key, value, seq));
    }
    this.#base.acceptUnseen?.(key, seq);
    return [];
  }

  /** {@link WaveAccumulator.absorb} for a commit that runs sealed before it have not seen (seed 001 §3e). */
  absorbDirect(key: InstanceKey, value: JsonValue | undefined, seq: Seq): readonly Change[] {
    this.direct.add(key, seq);
    return this.absorb(key, value, seq);
  }

  /** The wave was refused whole: everything unaccepted is taken back. */
  abort(wave: Wave): void {
    for (const { layer } of wave.contributions) this.view.remove(layer);
    this.#takeBack(this.#open.contributions.slice());
    this.#lastOfNode.clear();
  }

  /** Hardly ever is there a direct commit to have been seen: then nothing is looked at. */
  #seenBy({ reads }: Draft): Contribution["observed"] {
    return this.direct.isEmpty ? undefined : this.direct.seenBy(reads, this.#base.seq);
  }

  #promote(
    wave: Wave,
    plan: WavePlan,
    seqOf: (key: InstanceKey) => Seq,
    disturbed: ReadonlySet<InstanceKey>,
  ): void {
    const openKeys = new Set(
      this.#open.contributions.flatMap(({ writes }) => writes.map(({ key }) => key)),
    );
    const values = new Map<InstanceKey, JsonValue | undefined>();
    const unseen = new Set<InstanceKey>();
    for (const contribution of wave.contributions) {
      for (const { key } of landedWrites(plan.fates.get(contribution.id))) {
        if (disturbed.has(key) || openKeys.has(key) || values.has(key)) continue;
        // Receipts above all: one an event, and hardly ever read here. A load would show what a write of ours
        // was rebased on ahead of everything that was committed with it.
        if (!this.#isBlind(plan, key) && this.#base.concerns?.(key) === false) {
          unseen.add(key);
          continue;
        }
        const held = this.view.get(key);
        // Over a base that cannot be had: what landed is loaded with the rest, once it can.
        if (held === undefined) unseen.add(key);
        else values.set(key, held.value);
      }
    }
    this.#replay(wave, plan, values, unseen);
    for (const contribution of wave.contributions) {
      this.view.remove(contribution.layer);
      this.#forget(contribution);
    }
    for (const [key, value] of values) {
      this.#base.accept(key, value, seqOf(key));
      if (this.#isBlind(plan, key)) this.#blind.add(key, seqOf(key));
    }
    for (const key of unseen) this.#base.acceptUnseen?.(key, seqOf(key));
  }

  /** The wave wrote it over what the replica has not taken in. */
  #isBlind({ rebased }: WavePlan, key: InstanceKey): boolean {
    return (rebased.get(key) ?? 0) > this.#base.seq;
  }

  /** Where the visible value is not simply the wave's, what landed is applied to the base again. */
  #replay(
    wave: Wave,
    plan: WavePlan,
    values: Map<InstanceKey, JsonValue | undefined>,
    unseen: Set<InstanceKey>,
  ): void {
    const replayed = new LayeredView(this.#base);
    const keys = new Set<InstanceKey>();
    for (const contribution of wave.contributions) {
      const ops = new Map<InstanceKey, ValueOperation[]>();
      for (const { key, op } of landedWrites(plan.fates.get(contribution.id))) {
        if (values.has(key) || unseen.has(key)) continue;
        keys.add(key);
        const own = ops.get(key);
        if (own === undefined) ops.set(key, [op]);
        else own.push(op);
      }
      if (ops.size > 0) replayed.push({ ops });
    }
    for (const key of keys) {
      const held = replayed.get(key);
      if (held === undefined) unseen.add(key);
      else values.set(key, held.value);
    }
  }

  #takeBack(contributions: readonly Contribution[]): void {
    const gone = new Set(contributions);
    for (const contribution of contributions) {
      this.view.remove(contribution.layer);
      this.#forget(contribution);
    }
    const kept = this.#open.contributions.filter((one) => !gone.has(one));
    this.#open.contributions.splice(0, this.#open.contributions.length, ...kept);
  }

  #forget(contribution: Contribution): void {
    if (contribution.kind !== "derivation") return;
    const nodeKey = `${contribution.action} ${contribution.instance}`;
    if (this.#lastOfNode.get(nodeKey) === contribution) this.#lastOfNode.delete(nodeKey);
  }

  #moving(moved: readonly InstanceKey[], move: () => void): Change[] {
    // What nobody holds or reads moves unnoticed; looking at it would load it.
    const keys = moved.filter((key) => this.#base.concerns?.(key) !== false);
    const before = keys.map((key) => this.view.get(key)?.value);
    move();
    const changes: Change[] = [];
    keys.forEach((key, at) => {
      const was = before[at];
      const after = this.view.get(key)?.value;
      if (!jsonEqual(was, after)) changes.push({ key, before: was, after });
    });
    return changes;
  }
}

/** What the accumulator adds to a draft. */
type Place = Pick<Contribution, "id" | "basis" | "previous" | "observed" | "layer">;

/** Field by field: a spread of what is optional costs more than the seal. */
function contributionOf(draft: Draft, reads: Contribution["reads"], place: Place): Contribution {
  return {
    id: place.id,
    kind: draft.kind,
    action: draft.action,
    instance: draft.instance,
    actor: draft.actor,
    basis: place.basis,
    reads,
    elided: draft.elided,
    previous: place.previous,
    writes: draft.writes,
    delivery: draft.delivery,
    sends: draft.sends,
    effect: draft.effect,
    accessChanges: draft.accessChanges,
    unfit: draft.unfit,
    observed: place.observed,
    askedBy: draft.askedBy,
    preconditions: draft.preconditions,
    layer: place.layer,
  };
}

function landedWrites(fate: Fate | undefined): Extract<Fate, { kind: "lands" }>["writes"] {
  return fate?.kind === "lands" ? fate.writes : [];
}

function operationsOf(draft: Draft): ReadonlyMap<InstanceKey, readonly ValueOperation[]> {
  const ops = new Map<InstanceKey, ValueOperation[]>();
  for (const { key, op } of draft.writes) {
    const list = ops.get(key);
    if (list === undefined) ops.set(key, [op]);
    else list.push(op);
  }
  return ops;
}
