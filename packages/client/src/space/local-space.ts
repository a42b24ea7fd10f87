import { instanceKey, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type {
  Actor,
  Clock,
  DocId,
  EventId,
  FrameMessage,
  IdSource,
  InstanceKey,
  JsonValue,
  LocalSeq,
  Seq,
  SpaceId,
  ValueOperation,
} from "@tidemark/protocol";
import { Runtime } from "@tidemark/runtime";
import type { PatternRegistry } from "@tidemark/runtime";
import { Scheduler } from "@tidemark/scheduler";
import { mustRerun, Overlay, rebaseFrom, writtenKeys } from "@tidemark/speculation";
import type { OverlayChange, Slot } from "@tidemark/speculation";
import type { ReplicaChange } from "../replica/replica.js";
import { KnownRows } from "../replica/known-rows.js";
import { Replica } from "../replica/replica.js";
import { EchoRunner, startKey } from "./echo-runner.js";
import type { EchoInput } from "./echo-runner.js";
import { EchoSeal } from "./echo-seal.js";
import { EchoView } from "./echo-view.js";
import { nodeLinks, PieceBook, pieceKey, pieceOfKey } from "./piece-book.js";
import { Publisher } from "./publisher.js";
import { StartedPieces } from "./started-pieces.js";
import { Turns } from "./turns.js";

/** Stands for the set of the space's pieces, which no one instance is. */
export const PIECES_KEY = "space pieces" as InstanceKey;

/** What a local space is given. */
export interface LocalSpaceOptions {
  readonly space: SpaceId;
  readonly registry: PatternRegistry;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly echoBudgetMs: number;
  readonly actor: () => Actor;
  /** Whether a watch has asked for the instance and its row is on its way. */
  readonly awaited: (key: InstanceKey) => boolean;
  readonly report: (error: unknown) => void;
}

/**
 * Everything of one space that a client holds in memory: the replica, the overlay over it, the runtime
 * that echoes run in, and what is shown. What happens to it happens in turns; each turn ends with one
 * publication, so that what is shown goes from one whole state to the next (speculation.md).
 *
 * It knows no network: the rows, acknowledgements and ends come to it as calls.
 */
export class LocalSpace {
  readonly replica = new Replica();
  readonly #known = new KnownRows(this.replica);
  readonly overlay = new Overlay(this.#known);
  readonly view: EchoView;
  readonly publisher: Publisher;
  readonly pieces: PieceBook;
  readonly started: StartedPieces;
  readonly #options: LocalSpaceOptions;
  readonly #turns = new Turns();
  readonly #scheduler: Scheduler;
  readonly #runtime: Runtime;
  readonly #runner: EchoRunner;
  readonly #echoes = new Map<EventId, EchoInput>();
  readonly #frontiers = new Map<DocId, Seq>();
  /** What moved in this turn, for the publication. */
  #moved = new Set<InstanceKey>();
  /** Events fired and not yet echoed. */
  #fresh: EchoInput[] = [];
  /** What moved since echoes were last laid anew. */
  #touched = new Set<InstanceKey>();

  constructor(options: LocalSpaceOptions) {
    this.#options = options;
    const { space, registry, clock, report } = options;
    this.view = new EchoView(this.overlay, space);
    this.publisher = new Publisher(report);
    this.#scheduler = new Scheduler({ clock, yielding: false, report: () => undefined });
    const seal = new EchoSeal(
      this.overlay,
      () => this.replica.position.seq,
      (key) => this.#moved.add(key),
    );
    this.#runtime = new Runtime({
      space,
      patterns: registry,
      scheduler: this.#scheduler,
      view: this.view,
      seal,
      posture: "speculating",
      clock,
      ids: options.ids,
      actor: options.actor,
      // Echoes are silent: a computed that throws here may well not throw on the server.
      report: () => undefined,
    });
    this.pieces = new PieceBook(registry, (key) => this.overlay.view.get(key)?.value);
    this.started = new StartedPieces({
      runtime: this.#runtime,
      scheduler: this.#scheduler,
      pieces: this.pieces,
      shows: (key) => this.#isShown(key),
      report,
    });
    this.#runner = new EchoRunner({
      space,
      clock,
      budgetMs: options.echoBudgetMs,
      runtime: () => this.#runtime,
      overlay: this.overlay,
      view: this.view,
      seal,
    });
  }

  /** Whether something is being integrated, run or published. */
  get busy(): boolean {
    return this.#turns.busy;
  }

  /** Resolves when what has been asked so far is done. */
  idle(): Promise<void> {
    return this.#turns.run(() => undefined);
  }

  /** `eventWatermark` of a stream, as far as frames have told it. */
  frontier(stream: DocId): Seq | undefined {
    return this.#frontiers.get(stream);
  }

  /** A piece is looked at: it is started once its document is held, so that its handlers can echo. */
  openPiece(id: DocId): void {
    void this.#turn(() => {
      this.started.open(id);
      this.#touchPiece(id);
    });
  }

  /** Nobody looks at the piece any more. */
  closePiece(id: DocId): void {
    void this.#turn(() => this.started.close(id));
  }

  /**
   * Integrates a frame whole, with the ends of events that came along. False: a patch names a base that is not held;
   * nothing of the frame was applied (R26).
   */
  integrate(frame: FrameMessage, ended: () => readonly EventId[]): Promise<boolean> {
    return this.#turn(() => {
      const before = this.#visible(this.overlay.view.keys());
      const integration = this.replica.integrate(frame);
      if (!integration.ok) return false;
      for (const { stream, seq } of frame.frontiers) this.#frontiers.set(stream, seq);
      const ids = ended();
      for (const eventId of ids) this.#echoes.delete(eventId);
      this.overlay.endIntents(ids);
      this.#retire();
      this.#rowsMoved(integration.changes, before);
      this.#known.arrived(integration.arrivals);
      for (const key of integration.arrivals) this.#touch(key);
      this.#runtime.arrived(integration.arrivals);
      return true;
    });
  }

  /** Fires an event: its echo runs at once, on what is seen now. */
  fire(input: EchoInput): Promise<void> {
    return this.#turn(() => {
      this.#echoes.set(input.eventId, input);
      this.overlay.openIntent(input.eventId, input.stream);
      this.#fresh.push(input);
    });
  }

  /** The event's entry is durable. */
  appended(eventId: EventId, seq: Seq): Promise<void> {
    return this.#turn(() => {
      this.overlay.appended(eventId, seq);
      if (this.#isPast(seq)) this.#sweep();
    });
  }

  /** The event has ended otherwise than by a frame. */
  ended(eventId: EventId): Promise<void> {
    return this.#turn(() => this.#end(eventId));
  }

  /** An authored write is on its way: it shows at once, with what follows from it. */
  edit(
    localSeq: LocalSeq,
    ops: ReadonlyMap<InstanceKey, readonly ValueOperation[]>,
  ): Promise<void> {
    return this.#turn(() => {
      const { changes } = this.overlay.sealEdit(localSeq, ops, this.replica.position.seq);
      // It lies above whatever was done before, so no open echo is stale for it.
      this.#relaid(changes, "external");
    });
  }

  /** The write is durable at `seq`. */
  acked(localSeq: LocalSeq, seq: Seq): Promise<void> {
    return this.#turn(() => {
      this.overlay.acked(localSeq, seq);
      if (this.#isPast(seq)) this.#sweep();
    });
  }

  /** The write was refused. */
  refused(localSeq: LocalSeq): Promise<void> {
    return this.#turn(() => this.#layersMoved(this.overlay.refuseInput(localSeq), "rollback"));
  }

  /** Forgets the confirmed rows, as when the session became another one. */
  forget(): Promise<void> {
    return this.#turn(() => {
      const before = this.#visible(this.overlay.view.keys());
      this.#frontiers.clear();
      this.#rowsMoved(this.replica.clear(), before);
    });
  }

  /** Stops everything. */
  dispose(): void {
    this.started.closeAll();
    this.#runtime.dispose();
    this.#scheduler.dispose();
  }

  #turn<T>(work: () => T): Promise<T> {
    return this.#turns.run(() => {
      const result = work();
      const settling = this.#settle();
      return settling === undefined ? result : settling.then(() => result);
    });
  }

  /** Brings echoes and what follows from them up to date, then shows what moved; at once if it can. */
  #settle(): Promise<void> | undefined {
    this.#startPieces();
    const rebasing = this.#rebase();
    return rebasing === undefined ? this.#finish() : rebasing.then(() => this.#finish());
  }

  #finish(): Promise<void> | undefined {
    this.#startPieces();
    this.started.demand(this.overlay.view.size > 0);
    const settling = this.#scheduler.busy() ? this.#scheduler.settle() : undefined;
    // Without yields a settle has ended when it returns, unless it waits for something.
    if (settling !== undefined && this.#scheduler.busy())
      return settling.then(() => this.#publish());
    this.#publish();
    return undefined;
  }

  #publish(): void {
    const moved = this.#moved;
    this.#moved = new Set();
    for (const key of moved) if (pieceOfKey(key) !== undefined) moved.add(PIECES_KEY);
    this.publisher.publish(moved);
  }

  #startPieces(): void {
    for (const key of this.#moved) {
      const id = pieceOfKey(key);
      if (id === undefined) continue;
      if (this.replica.get(key) === undefined) this.#adoptUnborn(id);
      for (const stream of this.started.refresh(id)) this.#touched.add(startKey(stream));
    }
  }

  /** A piece that only this client has made: its nodes are absent, and that is known. */
  #adoptUnborn(id: DocId): void {
    const links = nodeLinks(this.overlay.view.get(pieceKey(id))?.value);
    this.#known.assumeAbsent(links.map((link) => link.id));
    if (links.length > 0) this.started.open(id);
  }

  #rebase(): Promise<void> | undefined {
    const touched = this.#touched;
    const fresh = this.#fresh;
    this.#touched = new Set();
    this.#fresh = [];
    // A new event lies on top: where nothing else moved, it alone runs.
    if (touched.size === 0) return fresh.length === 0 ? undefined : this.#runFresh(fresh);
    const from = rebaseFrom(this.overlay.slots, touched);
    return from < 0 ? undefined : this.#layAnew(from, touched);
  }

  #runFresh(fresh: readonly EchoInput[]): Promise<void> | undefined {
    for (const [at, input] of fresh.entries()) {
      const running = this.#runner.run(input);
      if (running !== undefined) return running.then(() => this.#runFresh(fresh.slice(at + 1)));
    }
    return undefined;
  }

  async #layAnew(from: number, touched: Set<InstanceKey>): Promise<void> {
    const { slots, changes } = this.overlay.withdrawFrom(from);
    this.#relaid(changes, "rollback");
    for (const slot of slots) await this.#relay(slot, touched);
  }

  async #relay(slot: Slot, touched: Set<InstanceKey>): Promise<void> {
    const input = slot.kind === "intent" ? this.#echoes.get(slot.eventId) : undefined;
    if (input === undefined || !mustRerun(slot, touched)) {
      this.#relaid(this.overlay.restore(slot.origin), "external");
      return;
    }
    for (const key of this.overlay.reopen(slot.origin)) touched.add(key);
    await this.#runner.run(input);
    const now = this.overlay.slot(slot.origin);
    for (const key of now === undefined ? [] : writtenKeys(now)) touched.add(key);
  }

  #end(eventId: EventId): void {
    this.#echoes.delete(eventId);
    this.#layersMoved(this.overlay.endIntent(eventId), "rollback");
  }

  /** Whether frames have already brought what a seq had to wait for. */
  #isPast(seq: Seq): boolean {
    return this.replica.position.seq >= seq;
  }

  #sweep(): void {
    const before = this.#visible(this.overlay.view.keys());
    this.#retire();
    this.#rowsMoved([], before);
  }

  /** Retires what may go; the caller tells what looks different. */
  #retire(): void {
    const { watermark, seq } = this.replica.position;
    const { passed } = this.overlay.sweep({
      watermark,
      frameSeq: seq,
      held: (key) => {
        const held = this.replica.get(key);
        return held === undefined ? undefined : { seq: held.seq, cover: held.coverClass };
      },
      awaited: (key) => this.replica.get(key) === undefined && this.#options.awaited(key),
      frontier: (stream) => this.#frontiers.get(stream),
    });
    for (const eventId of passed) this.#echoes.delete(eventId);
  }

  #rowsMoved(
    changes: readonly ReplicaChange[],
    layered: ReadonlyMap<InstanceKey, JsonValue | undefined>,
  ): void {
    const seen: OverlayChange[] = changes.filter(({ key }) => !layered.has(key));
    for (const [key, before] of layered) {
      const after = this.overlay.view.get(key)?.value;
      if (after !== before) seen.push({ key, before, after });
    }
    for (const { key } of changes) this.#touch(key);
    this.#layersMoved(seen, "external");
  }

  /** Layers moved in a way that makes no open echo stale, or none but those that are run now. */
  #relaid(changes: readonly OverlayChange[], cause: "external" | "rollback"): void {
    for (const { key } of changes) this.#moved.add(key);
    if (changes.length > 0) this.#scheduler.notify(changes, cause);
  }

  #layersMoved(changes: readonly OverlayChange[], cause: "external" | "rollback"): void {
    for (const { key } of changes) this.#touched.add(key);
    this.#relaid(changes, cause);
  }

  #touch(key: InstanceKey): void {
    this.#moved.add(key);
    this.#touched.add(key);
  }

  #touchPiece(id: DocId): void {
    this.#moved.add(instanceKey(id, SPACE_SCOPE_KEY));
  }

  #visible(keys: Iterable<InstanceKey>): Map<InstanceKey, JsonValue | undefined> {
    const seen = new Map<InstanceKey, JsonValue | undefined>();
    for (const key of keys) seen.set(key, this.overlay.view.get(key)?.value);
    return seen;
  }

  /** Whether this client shows the instance, so that it derives it while something is speculative. */
  #isShown(key: InstanceKey): boolean {
    return this.replica.get(key) !== undefined || this.view.read(key).state === "held";
  }
}
