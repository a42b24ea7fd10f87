import { applyPatch, instanceKey, jsonEqual } from "@tidemark/protocol";
import type {
  BaseView,
  FrameMessage,
  Held,
  InstanceKey,
  JsonValue,
  Row,
  Seq,
} from "@tidemark/protocol";

/** How a document of the replica moved. */
export interface ReplicaChange {
  readonly key: InstanceKey;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** What integrating a frame came to. */
export type Integration =
  | {
      readonly ok: true;
      /** Documents whose value moved. */
      readonly changes: readonly ReplicaChange[];
      /** Instances that were not held before, or are not held any more; values may be the same. */
      readonly arrivals: readonly InstanceKey[];
    }
  /** A patch names a base that is not held: nothing was applied, and a resync is due (R26). */
  | { readonly ok: false; readonly key: InstanceKey; readonly reason: string };

/** What a {@link Replica} has integrated of a space. */
export interface ReplicaPosition {
  readonly seq: Seq;
  readonly watermark: Seq;
}

const NOTHING = 0 as Seq;

/**
 * What a client holds of one space: confirmed rows, and the knowledge that a row is absent. It moves
 * by whole frames: a frame is checked first and applied after, so that a reader never sees half of
 * one, and its position moves together with the rows (field fault SY-03).
 */
export class Replica implements BaseView {
  readonly #rows = new Map<InstanceKey, Held>();
  #seq: Seq = NOTHING;
  #watermark: Seq = NOTHING;

  /** `undefined`: not held, i.e. pending. A held row without a value is known to be absent. */
  get(key: InstanceKey): Held | undefined {
    return this.#rows.get(key);
  }

  get position(): ReplicaPosition {
    return { seq: this.#seq, watermark: this.#watermark };
  }

  /** The instances held, absent ones included. */
  keys(): IterableIterator<InstanceKey> {
    return this.#rows.keys();
  }

  /** Instances held. */
  get size(): number {
    return this.#rows.size;
  }

  /** Applies a whole frame, or nothing of it. */
  integrate(frame: FrameMessage): Integration {
    const reset = frame.reset === true;
    const next = new Map<InstanceKey, Held | undefined>();
    if (reset) for (const key of this.#rows.keys()) next.set(key, undefined);
    for (const { id, scopeKey } of frame.gone) next.set(instanceKey(id, scopeKey), undefined);
    for (const row of frame.rows) {
      const key = instanceKey(row.id, row.scopeKey);
      const held = reset ? undefined : this.#rows.get(key);
      // A row older than what is held is an echo of a frame that came before; it takes nothing back.
      if (held !== undefined && row.seq < held.seq) continue;
      const read = readRow(row, held);
      if (!read.ok) return { ok: false, key, reason: read.reason };
      next.set(key, read.held);
    }
    const integration = this.#apply(next);
    this.#seq = reset ? frame.seq : max(this.#seq, frame.seq);
    this.#watermark = reset ? frame.watermark : max(this.#watermark, frame.watermark);
    return integration;
  }

  /** Forgets everything, as when the session became another one. */
  clear(): readonly ReplicaChange[] {
    const none = new Map<InstanceKey, Held | undefined>();
    for (const key of this.#rows.keys()) none.set(key, undefined);
    this.#seq = NOTHING;
    this.#watermark = NOTHING;
    return this.#apply(none).changes;
  }

  #apply(next: ReadonlyMap<InstanceKey, Held | undefined>): Integration & { readonly ok: true } {
    const changes: ReplicaChange[] = [];
    const arrivals: InstanceKey[] = [];
    for (const [key, held] of next) {
      const before = this.#rows.get(key);
      const settled = held !== undefined ? keepValue(before, held) : undefined;
      if (settled === undefined) this.#rows.delete(key);
      else this.#rows.set(key, settled);
      if ((before === undefined) !== (settled === undefined)) arrivals.push(key);
      if (before?.value !== settled?.value) {
        changes.push({ key, before: before?.value, after: settled?.value });
      }
    }
    return { ok: true, changes, arrivals };
  }
}

/** An equal value keeps its identity, so that whoever compares by identity sees no change. */
function keepValue(before: Held | undefined, held: Held): Held {
  const old = before?.value;
  const same = old !== undefined && held.value !== undefined && jsonEqual(old, held.value);
  return same ? { ...held, value: old } : held;
}

type RowRead =
  | { readonly ok: true; readonly held: Held }
  | { readonly ok: false; readonly reason: string };

function readRow(row: Row, held: Held | undefined): RowRead {
  const head = { seq: row.seq, coverClass: row.cover };
  if ("absent" in row) return { ok: true, held: { ...head, value: undefined } };
  if ("value" in row) return { ok: true, held: { ...head, value: row.value } };
  const { from, ops } = row.patch;
  if (held?.seq !== from)
    return { ok: false, reason: `patch from ${from}, held ${held?.seq ?? "none"}` };
  try {
    return { ok: true, held: { ...head, value: applyPatch(held.value, ops) } };
  } catch (error) {
    return { ok: false, reason: `the patch does not apply: ${String(error)}` };
  }
}

function max(a: Seq, b: Seq): Seq {
  return a > b ? a : b;
}
