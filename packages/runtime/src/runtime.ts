import {
  FrameError,
  getAt,
  instanceKey,
  parseInstanceKey,
  ProtocolError,
  SPACE_SCOPE_KEY,
  type ActionId,
  type Actor,
  type DocId,
  type EventId,
  type InstanceKey,
  type JsonValue,
  type TidemarkError,
} from "@tidemark/protocol";
import type { EventMarks } from "@tidemark/events";
import type { ReadEntry } from "@tidemark/scheduler";
import type { CellAccess } from "./cell/access.js";
import { REF, type Value } from "./cell/types.js";
import { entriesOf } from "./computed/derivation.js";
import { runInFrame } from "./frame/frame.js";
import {
  type HandlerCall,
  type HandlerOutcome,
  type HandlerResult,
  startHandler,
} from "./handler/handler-run.js";
import type { HandlerNode } from "./pattern/build-scope.js";
import { type Piece, PieceInstance } from "./piece/piece.js";
import { RuntimeGraph } from "./runtime-graph.js";
import type { RuntimeOptions } from "./runtime-options.js";
import { Transaction } from "./transaction/transaction.js";
import type { LoggedRead, RunContext, SealedWrite } from "./types.js";

/** An event to be handled. */
export interface HandlerEvent {
  readonly stream: DocId;
  readonly eventId: EventId;
  readonly payload: JsonValue | undefined;
  /** Wall milliseconds that `now()` returns: of the append, or of the fire in an echo (R29). */
  readonly at: number;
  /** What the runtime that fired it attests: the payload bears it again before the handler runs (seed 000 §2). */
  readonly marks?: EventMarks;
  readonly context: Extract<RunContext, { kind: "event-handler" }>;
}

/** What an imperative edit came to; the caller commits it. */
export interface Edit<T> {
  readonly reads: readonly LoggedRead[];
  readonly writes: readonly SealedWrite[];
  readonly value: T;
}

/** The handler that runs now. */
export interface RunningHandler {
  readonly action: ActionId;
  readonly eventId: EventId;
  /** Wall milliseconds of the runtime's clock. */
  readonly startedAt: number;
}

class Running implements RunningHandler {
  readonly action: ActionId;
  readonly eventId: EventId;
  readonly startedAt: number;
  #abandon: ((error: TidemarkError) => void) | undefined;

  constructor(action: ActionId, eventId: EventId, startedAt: number) {
    this.action = action;
    this.eventId = eventId;
    this.startedAt = startedAt;
  }

  /** Resolves once the run is given up. Asked for by runs that wait, and by no other. */
  abandoned(): Promise<HandlerResult["outcome"]> {
    return new Promise((resolve) => {
      this.#abandon = (error) => resolve({ kind: "errored", error });
    });
  }

  abandon(error: TidemarkError): void {
    this.#abandon?.(error);
  }
}

/**
 * Runs the pieces of one space: puts their computations into the scheduler's graph and runs handlers
 * for events. What a run did goes to the seal destination; the runtime stores nothing itself.
 */
export class Runtime {
  readonly #options: RuntimeOptions;
  readonly #graph: RuntimeGraph;
  readonly #pieces = new Map<DocId, PieceInstance>();
  readonly #streams = new Map<DocId, { piece: PieceInstance; handler: HandlerNode }>();
  readonly #lastReads = new Map<DocId, readonly ReadEntry[]>();
  #running: Running | undefined;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#graph = new RuntimeGraph(options);
  }

  // Pieces

  /**
   * Puts a piece into the graph by its document's value. Idempotent. Nothing runs until it is
   * demanded or read.
   *
   * @throws UnknownPatternError; ProtocolError for a document that is no piece's; PatternError.
   */
  startPiece(pieceId: DocId, value: JsonValue): Piece {
    const running = this.#pieces.get(pieceId);
    if (running !== undefined) return running;
    const piece = this.#build(pieceId, value);
    this.#install(piece);
    return piece;
  }

  /**
   * Points a running piece at the pattern its document names now. For the caller to call once the
   * pointer is durable; until then, and where this throws, the old graph stays (seed 001 §3e). Nodes
   * of the same name keep their documents, since a document's id comes from piece and name.
   */
  swap(pieceId: DocId, value: JsonValue): Piece {
    const old = this.#pieces.get(pieceId);
    if (old === undefined) return this.startPiece(pieceId, value);
    if (samePattern(old, value)) return old;
    const next = this.#build(pieceId, value);
    this.stopPiece(pieceId);
    this.#install(next);
    return next;
  }

  /** Takes a piece out of the graph. Its documents stay. */
  stopPiece(pieceId: DocId): void {
    const piece = this.#pieces.get(pieceId);
    if (piece === undefined) return;
    this.#pieces.delete(pieceId);
    for (const handler of piece.handlers) {
      this.#streams.delete(handler.id);
      this.#lastReads.delete(handler.id);
    }
    piece.stop();
  }

  piece(pieceId: DocId): Piece | undefined {
    return this.#pieces.get(pieceId);
  }

  pieces(): readonly Piece[] {
    return [...this.#pieces.values()];
  }

  /** Whether a computation of a started piece writes this document. */
  owns(key: InstanceKey): boolean {
    return this.#graph.isDerived(parseInstanceKey(key).id);
  }

  /** The piece and handler that a stream belongs to, where the piece is started. */
  streamOwner(stream: DocId): { readonly piece: Piece; readonly handler: HandlerNode } | undefined {
    return this.#streams.get(stream);
  }

  // Handlers

  /**
   * Runs the handler of an event and seals it. A synchronous body has run and is sealed when this
   * returns its promise. One handler runs at a time (R23).
   *
   * @throws FrameError while another handler runs.
   */
  async runHandler(event: HandlerEvent): Promise<HandlerOutcome> {
    return this.startHandler(event);
  }

  /**
   * {@link runHandler}, with the outcome itself where the body is synchronous: thousands of events
   * a second have no turns of the microtask queue to give away.
   *
   * @throws FrameError while another handler runs.
   */
  startHandler(event: HandlerEvent): HandlerOutcome | Promise<HandlerOutcome> {
    const owner = this.#streams.get(event.stream);
    if (owner === undefined) {
      const reason = `no started piece has a handler on ${event.stream}`;
      return { kind: "not-run", reason };
    }
    if (this.#running !== undefined) {
      const { action, eventId } = this.#running;
      throw new FrameError(`${action} still runs for ${eventId}: one handler runs at a time`, {});
    }
    return this.#run(owner.piece, owner.handler, event);
  }

  /** The handler that runs now, for whoever has to name one that does not end. */
  runningHandler(): RunningHandler | undefined {
    return this.#running;
  }

  /** Ends a handler that does not: what it still does has no effect, and its run ends as errored. */
  abandonHandler(error: TidemarkError): void {
    this.#running?.abandon(error);
  }

  /** What the last run of a stream's handler read: preflight makes it current first (R22). */
  handlerReads(stream: DocId): readonly ReadEntry[] {
    return this.#lastReads.get(stream) ?? [];
  }

  // Outside of runs

  /** A plain read: nothing is logged or computed. `undefined` where the document is not held. */
  read<T>(handle: Value<T>): T | undefined {
    return this.#plain("a plain read").get(handle[REF]) as T | undefined;
  }

  /** Whether what a handle shows is on its way: not held, or not computed yet. */
  isPending(handle: Value<unknown>): boolean {
    const tx = this.#plain("a plain read");
    try {
      tx.get(handle[REF]);
      return false;
    } catch (error) {
      if (tx.suspension !== undefined) return true;
      throw error;
    }
  }

  /**
   * Runs imperative code that reads and writes through handles, and returns what it did. Nothing is
   * sealed: an edit is its author's own commit (protocol.md §1).
   */
  edit<T>(label: string, body: () => T): Edit<T> {
    const tx = new Transaction(this.#graph.host, { kind: "edit", label, actor: this.#actor() });
    try {
      const value = runInFrame({ kind: "edit", label, access: tx }, body);
      return { reads: tx.reads, writes: tx.writes, value };
    } finally {
      tx.close("the edit is over");
    }
  }

  /**
   * Documents came to be held that were pending. Runs that were given up for them run again, also
   * where the document turns out to be absent, which no change of a value tells.
   */
  arrived(keys: Iterable<InstanceKey>): void {
    this.#graph.arrived(keys);
  }

  /** Stops every piece. */
  dispose(): void {
    for (const pieceId of this.#pieces.keys()) this.stopPiece(pieceId);
  }

  #build(pieceId: DocId, value: JsonValue): PieceInstance {
    const id = getAt(value, ["pattern", "id"]);
    const version = getAt(value, ["pattern", "version"]);
    if (typeof id !== "string" || typeof version !== "string") {
      throw new ProtocolError(`${pieceId} is no piece: it names no pattern`, { path: ["pattern"] });
    }
    const pattern = this.#options.patterns.get(id, version);
    const owner = { plain: (label: string) => this.#plainFor(label) };
    return new PieceInstance(pieceId, pattern, this.#graph, owner);
  }

  #install(piece: PieceInstance): void {
    this.#pieces.set(piece.id, piece);
    for (const handler of piece.handlers) this.#streams.set(handler.id, { piece, handler });
    piece.start();
  }

  #run(
    piece: PieceInstance,
    handler: HandlerNode,
    event: HandlerEvent,
  ): HandlerOutcome | Promise<HandlerOutcome> {
    const call: HandlerCall = {
      node: handler,
      label: `${piece.pattern.id}/${handler.name}`,
      action: piece.action(handler),
      stream: { id: handler.id, space: this.#options.space },
      payload: event.payload,
      marks: event.marks ?? {},
      at: event.at,
      context: event.context,
    };
    const env = this.#graph.environmentOf({ document: instanceKey(piece.id, SPACE_SCOPE_KEY) });
    const running = new Running(call.action, event.eventId, this.#options.clock.now());
    this.#running = running;
    let waits = false;
    try {
      const { tx, result } = startHandler(env, call);
      if (!(result instanceof Promise)) return this.#ended(call, tx, result);
      waits = true;
      return this.#awaited(call, tx, Promise.race([result, running.abandoned()]));
    } finally {
      if (!waits) this.#running = undefined;
    }
  }

  async #awaited(
    call: HandlerCall,
    tx: Transaction,
    result: Promise<HandlerResult["outcome"]>,
  ): Promise<HandlerOutcome> {
    try {
      return this.#ended(call, tx, await result);
    } finally {
      this.#running = undefined;
    }
  }

  #ended(call: HandlerCall, tx: Transaction, outcome: HandlerResult["outcome"]): HandlerOutcome {
    tx.close("its run was given up");
    this.#lastReads.set(call.stream.id, entriesOf(tx.reads));
    return this.#sealed(call, outcome);
  }

  #sealed(call: HandlerCall, outcome: HandlerResult["outcome"]): HandlerOutcome {
    if (outcome.kind !== "done") return outcome;
    const verdict = this.#options.seal.seal(outcome.run);
    if (!verdict.ok) {
      this.#graph.report({ kind: "seal-refused", action: call.action, error: verdict.error });
      return { kind: "refused", error: verdict.error };
    }
    this.#options.scheduler.notify(verdict.changes, "external");
    return { kind: "sealed", value: outcome.run.value };
  }

  #actor(): Actor {
    return this.#options.actor?.() ?? {};
  }

  #plain(label: string): Transaction {
    return new Transaction(this.#graph.host, { kind: "plain", label, actor: this.#actor() });
  }

  /** Reads of handles outside every frame: while a handler awaits they may well be that handler's. */
  #plainFor(label: string): CellAccess {
    if (this.#running === undefined) return this.#plain(label);
    const message = `${label} was used outside a run while ${this.#running.action} is waiting: after an await, use ctx.cell()`;
    throw new FrameError(message, { builtin: label });
  }
}

function samePattern(piece: PieceInstance, value: JsonValue): boolean {
  return (
    piece.pattern.id === getAt(value, ["pattern", "id"]) &&
    piece.pattern.version === getAt(value, ["pattern", "version"])
  );
}
