import {
  contentHash,
  instanceKey,
  resolveScopeKey,
  SpeculativeBasisError,
  UnknownPatternError,
} from "@tidemark/protocol";
import type {
  ConfirmedRead,
  DocId,
  DocOperation,
  InstanceKey,
  JsonValue,
  Link,
  PatchOp,
  Path,
  ScopeKind,
  Watch,
} from "@tidemark/protocol";
import { parseInstanceKey, scopeKindOf, streamIdFor } from "@tidemark/protocol";
import { marksOf, type EventMarks } from "@tidemark/events";
import { describePiece, pieceSelector, storedMemo } from "@tidemark/runtime";
import type { Pattern, PatternResult, PieceNode } from "@tidemark/runtime";
import { overwrite, patchOf, storable } from "../writes/build.js";
import { withCaptured } from "../writes/captured.js";
import { durableValue } from "../writes/confirmed.js";
import type { Committed } from "../space/outgoing.js";
import { pieceKey } from "../space/piece-book.js";
import type { PieceModel } from "../space/piece-book.js";
import { resolveLink } from "../space/resolve.js";
import type { Resolved } from "../space/resolve.js";
import { Shown } from "../space/publisher.js";
import type { SpaceCore } from "../space/space-core.js";
import type { FiredEvent } from "./fired-event.js";
import type { CellName, PayloadArgs, PayloadOf, StreamName, ValueName, ValueOf } from "./types.js";
import { LiveValue } from "./value-handle.js";
import type { ValueHandle } from "./value-handle.js";

/** How a piece is looked at. */
export interface PieceOptions {
  /**
   * What of the piece is watched, and so kept derived by the server: its whole result by default,
   * these names of it, or nothing (`[]`).
   */
  readonly watch?: readonly string[];
}

/** Where a named part of a piece is, and what it reads as before it is written. */
interface Place {
  readonly id: DocId;
  readonly scope: ScopeKind;
  readonly key: InstanceKey;
  readonly initial: JsonValue | undefined;
}

/**
 * A piece of a space: what it shows, and what can be done to it. `R` is what its pattern shows, taken
 * from the pattern module where one was given.
 */
export class PieceHandle<R extends PatternResult = PatternResult> {
  readonly id: DocId;
  readonly #core: SpaceCore;
  readonly #names: readonly string[] | undefined;
  readonly #values = new Map<string, LiveValue<unknown>>();
  readonly #document: LiveValue<JsonValue>;
  #watched: string | undefined;
  #closed = false;

  constructor(
    core: SpaceCore,
    id: DocId,
    pattern: Pattern | undefined,
    options: PieceOptions = {},
  ) {
    this.id = id;
    this.#core = core;
    this.#names = options.watch;
    this.#watch(pattern);
    core.local.openPiece(id);
    this.#document = this.#live((track) => this.#readDocument(track));
    this.#document.subscribe(() => {
      if (this.#names === undefined) this.#watch(this.model?.pattern);
    });
  }

  get link(): Link {
    return { id: this.id };
  }

  /** Pattern and argument, as the document says; its pattern only where this client has it. */
  get model(): PieceModel | undefined {
    return this.#core.local.pieces.model(this.id);
  }

  /** The piece's document, live. */
  get document(): ValueHandle<JsonValue> {
    return this.#document;
  }

  /** What the piece shows under a name of its result, live, links followed. */
  get<K extends ValueName<R>>(name: K): ValueHandle<ValueOf<R[K]>> {
    let value = this.#values.get(name);
    if (value === undefined) {
      value = this.#live((track) => this.#read(name, track));
      this.#values.set(name, value);
    }
    return value as LiveValue<ValueOf<R[K]>>;
  }

  /**
   * Fires an event: its echo shows at once, and the handle says what became of it.
   *
   * @throws ValueError for a payload that is no JSON.
   */
  fire<K extends StreamName<R>>(name: K, ...[payload]: PayloadArgs<PayloadOf<R[K]>>): FiredEvent {
    const checked = storable(payload === undefined ? null : payload);
    return this.#core.fire(this.stream(name), checked, marksOf(payload, checked));
  }

  /**
   * Fires an event as a renderer does when a person acts on what it shows: the entry attests that. For the
   * code that draws the page and nobody else; patterns are given no handle of this kind. `captured` is
   * what only the page knows at that instant (seed 000 §3): it is put into the payload, where the payload
   * does not say it itself, and the entry names those keys as the runtime's, not the author's.
   *
   * @throws ValueError for what is no JSON; ProtocolError where something is captured and the payload is no
   *   object.
   */
  dispatch<K extends StreamName<R>>(
    name: K,
    payload: PayloadOf<R[K]>,
    captured: Readonly<Record<string, unknown>> = {},
  ): FiredEvent {
    const own = storable(payload === undefined ? null : payload);
    const { event, injected } = withCaptured(own, storable(captured));
    const marks: EventMarks = {
      rendererTrusted: true,
      ...(injected.length === 0 ? {} : { runtimeInjectedEventKeys: injected }),
    };
    return this.#core.fire(this.stream(name), event, marks);
  }

  /** The stream behind a name of the result, or of a handler. */
  stream(name: string): DocId {
    return this.#core.local.pieces.link(this.id, name)?.id ?? streamIdFor(this.id, name);
  }

  /**
   * Overwrites a cell, or a place in it, as this user's own write. Blind: it rests on no echo, so it
   * is never refused for one. Resolves when it is durable; rejects where it is refused.
   *
   * @throws ValueError for a value that is no JSON; UnknownPatternError where the piece is not known.
   */
  set<K extends CellName<R>>(name: K, value: unknown, path: Path = []): Promise<Committed> {
    const place = this.#place(name);
    const { replica, overlay } = this.#core.local;
    const current = durableValue(replica, overlay, place.key);
    const op = overwrite(current, place.initial, path, storable(value));
    return this.#commit([{ ...op, ...addressOf(place) }], []);
  }

  /** Applies patch operations to a cell; merging ones merge with what others do meanwhile. */
  patch<K extends CellName<R>>(name: K, ops: readonly PatchOp[]): Promise<Committed> {
    const place = this.#place(name);
    return this.#commit([{ ...patchOf(ops, place.initial), ...addressOf(place) }], []);
  }

  /**
   * Sets a cell to what a function makes of its present value. It rests on that value, so it is
   * refused with `ConflictError` where another write came first.
   *
   * @throws SpeculativeBasisError where an unconfirmed layer stands on the cell: a value that the
   * server may never have seen is no basis for a write (speculation.md §The export rule).
   */
  update<K extends CellName<R>>(
    name: K,
    change: (value: ValueOf<R[K]> | undefined) => unknown,
  ): Promise<Committed> {
    const place = this.#place(name);
    const { replica } = this.#core.local;
    this.#refuseSpeculative(name, place.key);
    const held = replica.get(place.key);
    const value = (held?.value ?? place.initial) as ValueOf<R[K]> | undefined;
    const next = storable(change(value));
    const read: ConfirmedRead = {
      ...addressOf(place),
      path: [],
      seq: held?.seq ?? replica.position.seq,
      kind: "value",
    };
    return this.#commit([{ op: "set", value: next, ...addressOf(place) }], [read]);
  }

  /** Points the piece at another pattern, or another version of its own. */
  swap(pattern: Pattern): Promise<Committed> {
    const { registry } = this.#core.context;
    registry.register(pattern);
    const model = this.model;
    if (model === undefined) throw this.#unknown("its document is not here yet");
    const argument = (model.document as { readonly argument?: JsonValue }).argument;
    const value = storable(describePiece(pattern, argument, this.id));
    return this.#commit([{ op: "set", id: this.id, value }], []);
  }

  /** Stops looking at the piece. Values got from it keep their last state. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const value of this.#values.values()) value.release();
    this.#document.release();
    if (this.#watched !== undefined && this.#core.watches.remove(this.#watchId)) {
      this.#core.link.watchesChanged();
    }
    this.#core.local.closePiece(this.id);
  }

  get #watchId(): string {
    if (this.#names === undefined) return this.id;
    // Two lists of names are two watches: a text that is cut off, or joined, may stand for both.
    return `${this.id} ${contentHash([...this.#names])}`;
  }

  /** Asks for the result; once the pattern is known, for its own cells too, which echoes read. */
  #watch(pattern: Pattern | undefined): void {
    if (this.#closed || this.#names?.length === 0) return;
    const selector =
      this.#names === undefined
        ? wholeSelector(pattern, this.id)
        : pieceSelector(undefined, this.#names);
    const watch: Watch = { id: this.#watchId, root: { id: this.id }, selector };
    const told = JSON.stringify(watch);
    if (told === this.#watched) return;
    const { watches, link } = this.#core;
    // Added before the earlier one is removed, so that the watch of this id never lapses between.
    const changed = watches.addPiece(watch);
    if (this.#watched !== undefined) watches.remove(this.#watchId);
    this.#watched = told;
    if (changed) link.watchesChanged();
  }

  #readDocument(track: (key: InstanceKey) => void): Resolved {
    const key = pieceKey(this.id);
    track(key);
    const read = this.#core.local.view.read(key);
    return read.state === "held" ? { state: "value", value: read.value } : { state: "pending" };
  }

  #read(name: string, track: (key: InstanceKey) => void): Resolved {
    const document = this.#readDocument(track);
    if (document.state === "pending" || document.value === undefined) return document;
    const link = this.#core.local.pieces.link(this.id, name);
    if (link === undefined) return { state: "value", value: undefined };
    const { context, local, id: space } = this.#core;
    const initial = (key: InstanceKey): JsonValue | undefined => {
      const node = local.pieces.nodeOf(this.id, parseInstanceKey(key).id);
      return node?.kind === "cell" ? node.initial : undefined;
    };
    const shown = resolveLink(
      { view: local.view, actor: context.actor(), space, initial, track },
      link,
    );
    return local.pieces.nodeOf(this.id, link.id)?.kind === "effect" ? awaited(shown) : shown;
  }

  #live<T>(read: (track: (key: InstanceKey) => void) => Resolved): LiveValue<T> {
    const { publisher } = this.#core.local;
    return new LiveValue<T>(new Shown(publisher, read), publisher);
  }

  #place(name: string): Place {
    const { pieces } = this.#core.local;
    const link = pieces.link(this.id, name);
    if (link === undefined)
      throw this.#unknown(`it has no part named ${JSON.stringify(name)} here`);
    const node: PieceNode | undefined = pieces.nodeOf(this.id, link.id);
    const scope = link.scope ?? (node?.kind === "cell" ? node.scope : "space");
    const key = instanceKey(link.id, resolveScopeKey(scope, this.#core.context.actor()));
    return { id: link.id, scope, key, initial: node?.kind === "cell" ? node.initial : undefined };
  }

  #refuseSpeculative(name: string, key: InstanceKey): void {
    if (!this.#core.local.overlay.isSpeculative(key)) return;
    const message = `${name} of ${this.id} (${scopeKindOf(parseInstanceKey(key).scopeKey)}) shows a value that is not confirmed; wait for it, or overwrite it with set()`;
    throw new SpeculativeBasisError(message, {});
  }

  #commit(ops: readonly DocOperation[], reads: readonly ConfirmedRead[]): Promise<Committed> {
    const committed = this.#core.commit({ ops, reads });
    // A refusal that nobody waits for still shows (field fault SP-01).
    committed.catch((error) => this.#core.context.report(error));
    return committed;
  }

  #unknown(what: string): UnknownPatternError {
    return new UnknownPatternError(`piece ${this.id}: ${what}`, {});
  }
}

/** A marker that selects a request is no value yet: its answer is on its way (speculation.md). */
function awaited(shown: Resolved): Resolved {
  if (shown.state === "pending" || shown.value === undefined) return shown;
  return storedMemo(shown.value)?.settled === true ? shown : { state: "pending" };
}

function addressOf({ id, scope }: Place): { readonly id: DocId; readonly scope?: ScopeKind } {
  return scope === "space" ? { id } : { id, scope };
}

function wholeSelector(pattern: Pattern | undefined, id: DocId): NonNullable<Watch["selector"]> {
  const shown = pieceSelector(pattern);
  if (pattern === undefined || shown.kind !== "object") return shown;
  const followed = { kind: "follow", to: { kind: "any" } } as const;
  const cells = [...pattern.instantiate({ pieceId: id }).nodes.values()].filter(
    (node) => node.kind === "cell",
  );
  const internal = Object.fromEntries(cells.map(({ name }) => [name, followed]));
  return { kind: "object", keys: { ...shown.keys, internal: { kind: "object", keys: internal } } };
}
