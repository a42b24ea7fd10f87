import { jsonEqual, LayeredView } from "@tidemark/protocol";
import type {
  BaseView,
  DocId,
  EventId,
  Held,
  InstanceKey,
  LocalSeq,
  Seq,
  ValueOperation,
} from "@tidemark/protocol";
import { writtenKeys } from "../reconcile/rebase.js";
import { originDone, planSweep } from "../reconcile/retire.js";
import type { OriginStates, ReplicaFacts } from "../reconcile/retire.js";
import { alsoOverwritten, overwrittenBy, withoutOverwritten } from "../reconcile/supersede.js";
import type { Overwritten } from "../reconcile/supersede.js";
import { ChangeLog } from "./changes.js";
import type { OverlayChange } from "./changes.js";
import { inputOrigin, intentOrigin } from "./entry.js";
import type { EntryKind, OriginKey, OverlayEntry, SealedEcho } from "./entry.js";
import type { InputSlot, IntentSlot, Slot } from "./slot.js";
import { SlotBook } from "./slot-book.js";

/** What the overlay did with a sealed run. */
export interface SealResult {
  /** False: the echo came after its event's end, or it read nothing speculative. It does not show. */
  readonly accepted: boolean;
  /** Documents whose visible value moved. */
  readonly changes: readonly OverlayChange[];
}

/** What a sweep did. */
export interface SweepResult {
  readonly retired: readonly OverlayEntry[];
  /** Events whose own end was missed: the watermarks have passed them. */
  readonly passed: readonly EventId[];
  readonly changes: readonly OverlayChange[];
}

const NO_KEYS: ReadonlySet<InstanceKey> = new Set();

/**
 * The speculative layers of one session over one replica (speculation.md). It holds values in process
 * memory only and decides nothing about the network: the client tells it what was fired, sealed,
 * acknowledged and integrated, and it tells which documents look different now.
 *
 * What a session did stands in slots, in the order it was done; a slot's entries are laid in that
 * order. Entries of computeds lie above all slots, since nothing but their computed writes them.
 */
export class Overlay {
  readonly view: LayeredView;
  readonly #base: BaseView;
  readonly #log: ChangeLog;
  readonly #slots = new SlotBook();
  readonly #derived = new Map<string, OverlayEntry>();
  /** Inputs that an entry still refers to, with their floor. */
  readonly #inputs = new Map<OriginKey, { seq: Seq | undefined }>();
  /** Root event of each event that an echo sent. */
  readonly #roots = new Map<EventId, EventId>();
  #nextId = 1;

  /** As the last sweep had them. */
  #facts: ReplicaFacts | undefined;

  constructor(base: BaseView) {
    this.#base = base;
    this.view = new LayeredView(base);
    this.#log = new ChangeLog((key) => this.view.get(key)?.value);
  }

  /** Number of live entries, those set aside during a rebase included. */
  get size(): number {
    let size = this.#derived.size;
    for (const slot of this.#slots.all()) size += slot.entries.length;
    return size;
  }

  /** What this session did and is not over, in order. */
  get slots(): readonly Slot[] {
    return [...this.#slots.laid()];
  }

  /** The slot of an origin. */
  slot(origin: OriginKey): Slot | undefined {
    return this.#slots.find(origin);
  }

  /** The live entries of computeds. */
  get derived(): Iterable<OverlayEntry> {
    return this.#derived.values();
  }

  /** Whether a layer stands on the instance. */
  isSpeculative(key: InstanceKey): boolean {
    return this.view.layersOn(key).length > 0;
  }

  /** What lies under the layers; `undefined`: the instance is not held. */
  confirmed(key: InstanceKey): Held | undefined {
    return this.#base.get(key);
  }

  /** Reads, and what the speculative computeds among them were computed from, all the way down. */
  inputsOf(reads: ReadonlySet<InstanceKey>): ReadonlySet<InstanceKey> {
    const inputs = new Set(reads);
    // A set grows while it is walked, and each new key is walked too.
    for (const key of inputs) {
      for (const layer of this.view.layersOn(key)) {
        const entry = layer as OverlayEntry;
        if (entry.kind === "derived") for (const input of entry.reads) inputs.add(input);
      }
    }
    return inputs;
  }

  /** Opens a fired event at the end of the order. Its echo is not run yet. */
  openIntent(eventId: EventId, stream: DocId): void {
    const slot: IntentSlot = {
      kind: "intent",
      origin: intentOrigin(eventId),
      eventId,
      stream,
      seq: undefined,
      entries: [],
      reads: NO_KEYS,
      overwritten: new Map(),
      cascade: new Set(),
      ran: false,
    };
    this.#slots.add(slot);
  }

  /** Whether the event, or the event whose echo sent it, has not ended. */
  isOpen(eventId: EventId): boolean {
    return this.#intent(this.#rootOf(eventId)) !== undefined;
  }

  /** Notes that the echo of `parent` sent `child`: it ends with its root, whatever ids the server minted. */
  openCascade(child: EventId, parent: EventId): boolean {
    const root = this.#rootOf(parent);
    const slot = this.#intent(root);
    if (slot === undefined) return false;
    this.#roots.set(child, root);
    this.#slots.replace({ ...slot, cascade: new Set(slot.cascade).add(child) });
    return true;
  }

  /** Notes the entry's place in its stream, so that a missed end can be told by the watermarks. */
  appended(eventId: EventId, seq: Seq): void {
    const slot = this.#intent(eventId);
    if (slot !== undefined) this.#slots.replace({ ...slot, seq });
  }

  /**
   * A handler's echo. It is dropped where its event has ended (fault class 45).
   */
  sealHandler(eventId: EventId, echo: SealedEcho): SealResult {
    const slot = this.#intent(this.#rootOf(eventId));
    if (slot === undefined) return { accepted: false, changes: [] };
    const ops = withoutOverwritten(echo.ops, slot.overwritten);
    const origins = new Set([slot.origin, intentOrigin(eventId)]);
    const entry = this.#entry("handler", { ...echo, ops }, origins);
    this.#slots.replace({
      ...slot,
      entries: [...slot.entries, entry],
      reads: union(slot.reads, echo.reads),
    });
    this.#push(entry);
    return { accepted: true, changes: this.#log.take() };
  }

  /** The end of a run of an event, whether or not it sealed anything: what it read re-arms it. */
  ran(eventId: EventId, reads: ReadonlySet<InstanceKey>): void {
    const slot = this.#intent(this.#rootOf(eventId));
    if (slot !== undefined)
      this.#slots.replace({ ...slot, reads: union(slot.reads, reads), ran: true });
  }

  /** An authored write, shown until the replica carries it. */
  sealEdit(
    localSeq: LocalSeq,
    ops: ReadonlyMap<InstanceKey, readonly ValueOperation[]>,
    baseSeq: Seq,
  ): SealResult {
    const origin = inputOrigin(localSeq);
    const echo: SealedEcho = { writer: String(localSeq), ops, reads: NO_KEYS, baseSeq };
    const entry = this.#entry("edit", echo, new Set([origin]));
    const slot: InputSlot = { kind: "input", origin, localSeq, seq: undefined, entries: [entry] };
    this.#slots.add(slot);
    this.#inputs.set(origin, { seq: undefined });
    this.#push(entry);
    return { accepted: true, changes: this.#log.take() };
  }

  /**
   * A computed's run. Its origins are those of the layers it read; a run that read none is not kept, nor
   * is one whose origins hold it no longer, since the replica's row is the server's word. The writer's older entry retires, and what it still
   * waited for of an input is waited for by the newer one.
   */
  sealDerived(echo: SealedEcho): SealResult {
    const origins = this.#originsOf(echo.reads);
    for (const older of this.#olderThan(echo)) {
      for (const origin of older.origins) if (this.#inputs.has(origin)) origins.add(origin);
      this.#drop(older);
    }
    const entry = this.#entry("derived", echo, origins);
    // What the last frame brought may be all that it waited for: no other frame need come.
    const over = this.#facts === undefined ? origins.size === 0 : this.#over(entry, this.#facts);
    if (!over) {
      this.#derived.set(echo.writer, entry);
      this.#push(entry);
    }
    return { accepted: !over, changes: this.#log.take() };
  }

  /** Its writer's entry, and those of other computeds on its documents: a swapped pattern's successors. */
  #olderThan(echo: SealedEcho): readonly OverlayEntry[] {
    const older = new Set<OverlayEntry>();
    const own = this.#derived.get(echo.writer);
    if (own !== undefined) older.add(own);
    for (const key of echo.ops.keys()) {
      for (const layer of this.view.layersOn(key)) {
        const entry = layer as OverlayEntry;
        if (entry.kind === "derived") older.add(entry);
      }
    }
    return [...older];
  }

  /** Withdraws a computed's entry, e.g. because its run met something that is not there yet. */
  dropDerived(writer: string): readonly OverlayChange[] {
    const older = this.#derived.get(writer);
    if (older !== undefined) this.#drop(older);
    return this.#log.take();
  }

  /** The events have ended, whichever way: their echoes and those of their cascades go. */
  endIntents(eventIds: Iterable<EventId>): readonly OverlayChange[] {
    for (const eventId of eventIds) this.#endIntent(eventId);
    this.#dropOrphans();
    return this.#log.take();
  }

  /** The end of one event; see {@link endIntents}, which is cheaper for several. */
  endIntent(eventId: EventId): readonly OverlayChange[] {
    return this.endIntents([eventId]);
  }

  /** The commit of an edit is durable at `seq`. */
  acked(localSeq: LocalSeq, seq: Seq): void {
    const origin = inputOrigin(localSeq);
    const input = this.#inputs.get(origin);
    if (input !== undefined) input.seq = seq;
    const slot = this.#slots.find(origin);
    if (slot?.kind === "input") this.#slots.replace({ ...slot, seq });
  }

  /** The commit of an edit was refused: it leaves, and what followed from it alone. */
  refuseInput(localSeq: LocalSeq): readonly OverlayChange[] {
    const origin = inputOrigin(localSeq);
    this.#inputs.delete(origin);
    this.#removeSlot(origin);
    this.#dropOrphans();
    return this.#log.take();
  }

  /** Retires what the facts allow. Own retirement never re-runs the writer: only readers are told. */
  sweep(facts: Omit<ReplicaFacts, "agrees">): SweepResult {
    const complete: ReplicaFacts = {
      watermark: facts.watermark,
      frameSeq: facts.frameSeq,
      held: (key) => facts.held(key),
      awaited: (key) => facts.awaited(key),
      frontier: (stream) => facts.frontier(stream),
      agrees: (entry) => this.#agrees(entry),
    };
    this.#facts = complete;
    const retired: OverlayEntry[] = [];
    const { retire, passed } = planSweep(
      this.slots,
      this.#derived.values(),
      this.#states,
      complete,
    );
    for (const entry of retire) this.#retire(entry, retired);
    for (const eventId of passed) this.#endIntent(eventId);
    // An ended intent may have been the last thing that held an entry of a computed.
    for (const entry of this.#derived.values()) {
      if (this.#over(entry, complete)) this.#retire(entry, retired);
    }
    this.#forgetInputs();
    return { retired, passed, changes: this.#log.take() };
  }

  /**
   * Sets aside every slot from `index` on, for a rebase: the view shows what stood before them. Each
   * must come back through {@link restore} or {@link reopen}, in order.
   */
  withdrawFrom(index: number): {
    readonly slots: readonly Slot[];
    readonly changes: readonly OverlayChange[];
  } {
    const slots = this.#slots.setAside(index);
    for (const slot of slots) for (const entry of slot.entries) this.#pull(entry);
    return { slots, changes: this.#log.take() };
  }

  /** Lays a slot that was set aside again, as it was. */
  restore(origin: OriginKey): readonly OverlayChange[] {
    const slot = this.#slots.takeAside(origin);
    if (slot === undefined) return [];
    this.#slots.add(slot);
    for (const entry of slot.entries) this.#push(entry);
    return this.#log.take();
  }

  /** Lays an intent that was set aside again without its echo, to be run anew. Returns what it wrote. */
  reopen(origin: OriginKey): ReadonlySet<InstanceKey> {
    const slot = this.#slots.takeAside(origin);
    if (slot?.kind !== "intent") return NO_KEYS;
    for (const child of slot.cascade) this.#roots.delete(child);
    this.#slots.add({ ...slot, entries: [], reads: NO_KEYS, cascade: new Set(), ran: false });
    return writtenKeys(slot);
  }

  readonly #states: OriginStates = {
    intentOpen: (origin) => this.#slots.find(origin) !== undefined,
    input: (origin) => this.#inputs.get(origin),
  };

  #over(entry: OverlayEntry, facts: ReplicaFacts): boolean {
    return [...entry.origins].every((origin) => originDone(entry, origin, this.#states, facts));
  }

  #rootOf(eventId: EventId): EventId {
    return this.#roots.get(eventId) ?? eventId;
  }

  #intent(eventId: EventId): IntentSlot | undefined {
    const slot = this.#slots.find(intentOrigin(eventId));
    return slot?.kind === "intent" ? slot : undefined;
  }

  #entry(kind: EntryKind, echo: SealedEcho, origins: ReadonlySet<OriginKey>): OverlayEntry {
    const id = this.#nextId;
    this.#nextId += 1;
    return {
      id,
      kind,
      origins,
      writer: echo.writer,
      ops: echo.ops,
      reads: echo.reads,
      baseSeq: echo.baseSeq,
    };
  }

  #originsOf(reads: ReadonlySet<InstanceKey>): Set<OriginKey> {
    const origins = new Set<OriginKey>();
    for (const key of reads) {
      for (const layer of this.view.layersOn(key)) {
        for (const origin of (layer as OverlayEntry).origins) origins.add(origin);
      }
    }
    return origins;
  }

  #push(entry: OverlayEntry): void {
    for (const key of entry.ops.keys()) this.#log.touch(key);
    this.view.push(entry);
  }

  #pull(entry: OverlayEntry): void {
    for (const key of entry.ops.keys()) this.#log.touch(key);
    this.view.remove(entry);
  }

  #drop(entry: OverlayEntry): void {
    if (this.#derived.get(entry.writer) === entry) this.#derived.delete(entry.writer);
    this.#pull(entry);
  }

  #retire(entry: OverlayEntry, retired: OverlayEntry[]): void {
    retired.push(entry);
    if (entry.kind === "derived") {
      this.#drop(entry);
      return;
    }
    if (entry.kind === "edit") this.#supersede(entry);
    this.#pull(entry);
    for (const slot of this.slots) {
      if (!slot.entries.includes(entry)) continue;
      this.#slots.replace({ ...slot, entries: slot.entries.filter((other) => other !== entry) });
    }
  }

  /**
   * An edit is in the store: what this session did before it and is still open was done on what it
   * then overwrote, and the server will not bring that back (seed 001 §3d).
   */
  #supersede(edit: OverlayEntry): void {
    const overwritten = overwrittenBy(edit);
    if (overwritten.size === 0) return;
    for (const slot of this.slots) {
      if (slot.kind === "input" && slot.entries.includes(edit)) return;
      if (slot.kind !== "intent") continue;
      const all = alsoOverwritten(slot.overwritten, overwritten);
      const entries = slot.entries.map((entry) => this.#trim(entry, overwritten));
      this.#slots.replace({ ...slot, overwritten: all, entries });
    }
  }

  #trim(entry: OverlayEntry, overwritten: Overwritten): OverlayEntry {
    const ops = withoutOverwritten(entry.ops, overwritten);
    if ([...entry.ops].every(([key, list]) => ops.get(key) === list)) return entry;
    for (const key of entry.ops.keys()) this.#log.touch(key);
    const next = { ...entry, ops };
    this.view.replace(entry, next);
    return next;
  }

  #endIntent(eventId: EventId): void {
    const slot = this.#intent(eventId);
    if (slot === undefined) return;
    for (const child of slot.cascade) this.#roots.delete(child);
    this.#removeSlot(slot.origin);
  }

  #removeSlot(origin: OriginKey): void {
    const { slot, stood } = this.#slots.remove(origin);
    if (stood) for (const entry of slot?.entries ?? []) this.#pull(entry);
  }

  /** Drops computeds' entries that nothing live stands behind any more. */
  #dropOrphans(): void {
    for (const entry of this.#derived.values()) {
      const held = [...entry.origins].some(
        (origin) => this.#inputs.has(origin) || this.#states.intentOpen(origin),
      );
      if (!held) this.#drop(entry);
    }
  }

  /** Forgets inputs whose write is in the replica and that no entry follows from any more. */
  #forgetInputs(): void {
    const referred = new Set<OriginKey>();
    for (const entry of this.#derived.values())
      for (const origin of entry.origins) referred.add(origin);
    for (const slot of this.slots) {
      if (slot.kind === "input" && slot.entries.length === 0) this.#slots.remove(slot.origin);
    }
    for (const origin of this.#inputs.keys()) {
      if (!referred.has(origin) && this.#slots.find(origin) === undefined)
        this.#inputs.delete(origin);
    }
  }

  #agrees(entry: OverlayEntry): boolean {
    for (const [key, ops] of entry.ops) {
      const confirmed = this.#base.get(key)?.value;
      const last = ops.at(-1);
      if (last?.op === "delete" && confirmed === undefined) continue;
      if (last?.op !== "set" || confirmed === undefined) return false;
      if (!jsonEqual(last.value, confirmed)) return false;
    }
    return true;
  }
}

function union(a: ReadonlySet<InstanceKey>, b: ReadonlySet<InstanceKey>): ReadonlySet<InstanceKey> {
  if (a.size === 0) return b;
  const all = new Set(a);
  for (const key of b) all.add(key);
  return all;
}
