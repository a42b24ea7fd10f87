import {
  FrameError,
  instanceKey,
  isTidemarkError,
  NarrowingUnsupportedError,
  resolveScopeKey,
  ScopeError,
  validateJson,
  type AccessChange,
  type Actor,
  type DocId,
  type InstanceKey,
  type JsonValue,
  type Link,
  type Path,
  type Seq,
  type ValueOperation,
} from "@tidemark/protocol";
import { marksOf } from "@tidemark/events";
import type { CellAccess, MergeRequest } from "../cell/access.js";
import type { NodeRef } from "../cell/node-ref.js";
import { locate, readThrough, type DocumentReader } from "../cell/reading.js";
import { type AbortError, SuspendedError } from "../errors.js";
import { outsideFrame } from "../frame/frame.js";
import type { LoggedRead, ReadState, SealedWrite, SentEvent } from "../types.js";
import { DocumentWrites } from "./document-writes.js";
import type { Suspension, TransactionHost } from "./host.js";
import { mergeOperation, overwriteAt, removalAt, removalOfValue } from "./operations.js";
import { ReadLog } from "./read-log.js";
import { recipeOperation } from "./recipe.js";

/** What a run may do, and as whom. */
export interface RunPermissions {
  readonly kind: "derivation" | "event-handler" | "edit" | "plain";
  readonly label: string;
  readonly actor: Actor;
  /** Mints the ids of sent events; absent where nothing may be sent. */
  readonly nextEventId?: () => SentEvent["eventId"];
}

type Held = Extract<ReadState, { state: "held" }>;

const ABSENT: Held = { state: "held", value: undefined, seq: 0 as Seq };

/**
 * One run's reads and writes: its own writes over the view, a log of every place read, and one
 * operation per document at the end (seed 001 §3b, §3d). Nothing leaves it before it is sealed.
 */
export class Transaction implements CellAccess, DocumentReader {
  readonly #host: TransactionHost;
  readonly #run: RunPermissions;
  readonly #log = new ReadLog();
  readonly #states = new Map<string, Held>();
  readonly #writes = new Map<InstanceKey, DocumentWrites>();
  readonly #sends: SentEvent[] = [];
  readonly #accessChanges: AccessChange[] = [];
  #suspension: Suspension | undefined;
  #aborted: AbortError | undefined;
  #closed: string | undefined;

  constructor(host: TransactionHost, run: RunPermissions) {
    this.#host = host;
    this.#run = run;
  }

  /** Set once an input was not there: the run does not count, whatever its code made of it. */
  get suspension(): Suspension | undefined {
    return this.#suspension;
  }

  /** Set once the run's code has aborted it. */
  get aborted(): AbortError | undefined {
    return this.#aborted;
  }

  abort(error: AbortError): void {
    this.#aborted ??= error;
  }

  get reads(): readonly LoggedRead[] {
    return this.#log.all();
  }

  get writes(): readonly SealedWrite[] {
    return [...this.#writes].map(([key, writes]) => ({ key, op: writes.operation() }));
  }

  get sends(): readonly SentEvent[] {
    return this.#sends;
  }

  get accessChanges(): readonly AccessChange[] {
    return this.#accessChanges;
  }

  /** Ends the run: a context kept for later use throws from here on. */
  close(why: string): void {
    this.#closed ??= why;
  }

  // Reads

  get(ref: NodeRef): JsonValue | undefined {
    this.#checkOpen(ref.label);
    return readThrough(this, ref);
  }

  getRaw(ref: NodeRef): JsonValue | undefined {
    this.#checkOpen(ref.label);
    const place = locate(this, ref, false);
    this.log(place.ref, place.ref.path, "value");
    return place.value;
  }

  keys(ref: NodeRef): readonly string[] {
    this.#checkOpen(ref.label);
    const { ref: end, value } = locate(this, ref, true);
    this.log(end, end.path, "shape");
    return typeof value === "object" && value !== null ? Object.keys(value) : [];
  }

  document(ref: NodeRef): JsonValue | undefined {
    const key = this.#keyOf(ref);
    const own = ref.space === undefined ? this.#writes.get(key) : undefined;
    return own === undefined ? this.#state(ref, key).value : own.value;
  }

  initial(ref: NodeRef): JsonValue | undefined {
    if (ref.initial !== undefined || foreignSpace(ref, this.#host) !== undefined)
      return ref.initial;
    return this.#host.initialOf(ref.id);
  }

  log(ref: NodeRef, path: Path, kind: "value" | "shape"): void {
    const key = this.#keyOf(ref);
    const own = ref.space === undefined ? this.#writes.get(key) : undefined;
    if (own?.covers(path) === true) return;
    const { seq } = this.#state(ref, key);
    this.#log.add({ key, path, kind, seq, space: foreignSpace(ref, this.#host) });
  }

  /** Logs a read that the run's code did not make. */
  logKey(key: InstanceKey, path: Path, seq: Seq): void {
    this.#log.add({ key, path, kind: "value", seq });
  }

  /** Ends the run because a document is on its way. */
  awaits(key: InstanceKey): never {
    this.#log.add({ key, path: [], kind: "value", seq: 0 as Seq });
    return this.#suspend({ kind: "pending", on: key });
  }

  // Writes

  set(ref: NodeRef, value: unknown): void {
    const next = checked(value);
    if (ref.path.length === 0) return this.#overwrite(ref, { op: "set", value: next });
    this.#write(ref, (end, current) =>
      overwriteAt(end, current, next, (path) => this.log(end, path, "value")),
    );
  }

  update(ref: NodeRef, recipe: (draft: never) => unknown): void {
    const before = this.getRaw(ref);
    this.#write(ref, (end, current) => recipeOperation(end, current, before, recipe, checked));
  }

  merge(ref: NodeRef, request: MergeRequest): void {
    if (request.op === "increment" && request.value === 0) return;
    this.#write(ref, (end) => mergeOperation(end, request, checked));
  }

  remove(ref: NodeRef): void {
    if (ref.path.length === 0) return this.#overwrite(ref, { op: "delete" });
    this.#write(ref, (end, current) => removalAt(end, current));
  }

  removeValue(ref: NodeRef, value: unknown): void {
    this.#write(ref, (end, current) => removalOfValue(end, current, checked(value)));
  }

  /** Writes a document whole, past every check of handles: for the runtime's own outputs. */
  output(key: InstanceKey, op: ValueOperation): void {
    const writes = this.#writes.get(key) ?? new DocumentWrites(undefined);
    this.#writes.set(key, writes);
    writes.apply(op);
  }

  send(stream: Link, payload: unknown): void {
    this.#checkOpen(`stream ${stream.id}`);
    const { nextEventId } = this.#run;
    if (nextEventId === undefined) {
      const message = `send() may not be called in ${this.#run.label}: only handlers send events`;
      throw new FrameError(message, { builtin: "send" });
    }
    const value = payload === undefined ? null : checked(payload);
    const marks = marksOf(payload, value);
    this.#sends.push({ stream, eventId: nextEventId(), payload: value, ...marks });
  }

  /** Asks for a change of the space's access list. No run writes the list itself (seed 001 §3d). */
  stageAccess(builtin: string, change: AccessChange): void {
    this.#checkOpen(`${builtin}()`);
    this.#accessChanges.push(change);
  }

  // Inside

  /** Overwrites a whole document: blind, so that one that is not held can be set. */
  #overwrite(ref: NodeRef, op: ValueOperation): void {
    this.#checkOpen(ref.label);
    this.#checkWritable(ref);
    outsideFrame(() => this.#host.ensure(ref.id));
    this.#checkTarget(ref);
    this.output(this.#keyOf(ref), op);
  }

  #write(
    ref: NodeRef,
    operate: (end: NodeRef, current: JsonValue | undefined) => ValueOperation | undefined,
  ): void {
    this.#checkOpen(ref.label);
    this.#checkWritable(ref);
    const end = ref.path.length === 0 ? ref : locate(this, ref, false).ref;
    const key = this.#keyOf(end);
    // The state first: reading it may start the piece that says what may be written here.
    const writes = this.#writes.get(key) ?? new DocumentWrites(this.#state(end, key).value);
    this.#checkTarget(end);
    const op = operate({ ...end, initial: this.initial(end) }, writes.value);
    if (op === undefined) return;
    writes.apply(op);
    this.#writes.set(key, writes);
  }

  #checkWritable(ref: NodeRef): void {
    const { kind, label } = this.#run;
    if (kind === "derivation" || kind === "plain") {
      const where = kind === "plain" ? "outside a run or after an await" : `in ${label}`;
      const message = `${ref.label} cannot be written ${where}: cells are written in handlers (after an await through ctx.cell()) and in edits`;
      throw new FrameError(message, { builtin: ref.label });
    }
    if (!ref.writable) {
      throw new FrameError(`${ref.label} is written by its own computation alone`, {
        builtin: ref.label,
      });
    }
  }

  #checkTarget(end: NodeRef): void {
    const foreign = foreignSpace(end, this.#host);
    if (foreign !== undefined) {
      const message = `${end.label} is of space ${foreign}: a run changes another space only by sending an event`;
      throw new FrameError(message, { builtin: end.label });
    }
    if (this.#host.isDerived(end.id)) {
      throw new FrameError(`${end.label} is written by its own computation alone`, {
        builtin: end.label,
      });
    }
  }

  #keyOf(ref: NodeRef): InstanceKey {
    if (ref.scope === "space") return `space ${ref.id}` as InstanceKey;
    if (foreignSpace(ref, this.#host) !== undefined) {
      const message = `${ref.label} is ${ref.scope}-scoped in another space: such reads are refused`;
      throw new ScopeError(message, { reason: "no-acting-user" });
    }
    if (this.#run.kind === "derivation") {
      const message = `${this.#run.label} read ${ref.label}, which is ${ref.scope}-scoped: a computed of a scoped cell is not served yet; read it in a handler`;
      throw new NarrowingUnsupportedError(message, { id: ref.id, scope: ref.scope });
    }
    return instanceKey(ref.id, resolveScopeKey(ref.scope, this.#run.actor));
  }

  #state(ref: NodeRef, key: InstanceKey): Held {
    const foreign = foreignSpace(ref, this.#host);
    const at = foreign === undefined ? key : `${foreign} ${key}`;
    const known = this.#states.get(at);
    if (known !== undefined) return known;
    const state = outsideFrame(() => this.#load(ref.id, key, foreign));
    if (state.state === "held") {
      this.#states.set(at, state);
      return state;
    }
    // Knowledge of absence: a client holds its own scoped rows or nobody has written them.
    if (
      state.state === "pending" &&
      ref.scope !== "space" &&
      this.#host.posture === "speculating"
    ) {
      return ABSENT;
    }
    this.#log.add({ key, path: [], kind: "value", seq: 0 as Seq, space: foreign });
    return this.#suspend(
      state.state === "pending"
        ? { kind: "pending", on: key }
        : { kind: "failed", on: key, error: state.error },
    );
  }

  #load(id: DocId, key: InstanceKey, foreign: NodeRef["space"]): ReadState {
    if (foreign !== undefined) return this.#host.view.read(key, foreign);
    if (this.#run.kind !== "plain") {
      this.#host.ensure(id);
      this.#pull(key);
    }
    const transient = this.#host.transient(key);
    if (transient === undefined) return this.#host.view.read(key);
    if (transient.value === undefined) return { state: "pending" };
    return { state: "held", value: transient.value, seq: 0 as Seq };
  }

  #pull(key: InstanceKey): void {
    try {
      this.#host.pull(key);
    } catch (error) {
      if (!isTidemarkError(error, "pull-deferred")) throw error;
      this.#log.add({ key, path: [], kind: "value", seq: 0 as Seq });
      this.#suspend({ kind: "deferred", on: key, error });
    }
  }

  #suspend(suspension: Suspension): never {
    this.#suspension ??= suspension;
    const { on, kind } = this.#suspension;
    throw new SuspendedError(`${this.#run.label} waits for ${on} (${kind})`);
  }

  #checkOpen(label: string): void {
    if (this.#closed === undefined) return;
    const message = `${label} was used after ${this.#run.label} ended: ${this.#closed}`;
    throw new FrameError(message, { builtin: label });
  }
}

function foreignSpace(ref: NodeRef, host: TransactionHost): NodeRef["space"] {
  return ref.space === undefined || ref.space === host.space ? undefined : ref.space;
}

/** @throws ValueError with the path of what is not JSON in it. */
function checked(value: unknown): JsonValue {
  const json = validateJson(value);
  if (!json.ok) throw json.error;
  return json.value;
}
