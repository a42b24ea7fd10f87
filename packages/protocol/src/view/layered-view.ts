import type { CommitClass } from "../commit/commit-class.js";
import type { InstanceKey } from "../scope/scope.js";
import type { JsonValue } from "../json/json-value.js";
import { applyOperation } from "../patch/apply.js";
import type { ValueOperation } from "../patch/operations.js";
import type { Seq } from "../ids/ids.js";

/** What is known of a document instance. */
export interface Held {
  /** `undefined`: the instance is known to be absent. */
  readonly value: JsonValue | undefined;
  /** Seq of its last change, 0 when it was never written. */
  readonly seq: Seq;
  /** Class of the commit that covers it, where known. */
  readonly coverClass?: CommitClass;
}

/** What lies under the layers: a replica. `undefined`: the instance is not held (it is pending). */
export interface BaseView {
  get(key: InstanceKey): Held | undefined;
}

/** The operations of one sealed run, per instance, in the order they were made. */
export interface ViewLayer {
  readonly ops: ReadonlyMap<InstanceKey, readonly ValueOperation[]>;
}

/** A layer whose operations on an instance do not apply to what lies below, and why. */
export interface SkippedLayer {
  readonly layer: ViewLayer;
  readonly key: InstanceKey;
  readonly error: unknown;
}

/** Options of a {@link LayeredView}. */
export interface LayeredViewOptions {
  /** Called when materialising finds a layer that no longer applies, once per recomputation. */
  readonly onSkip?: (skipped: SkippedLayer) => void;
}

/** The layers on one instance, and the value that they make over `base`. */
interface Stack {
  readonly layers: ViewLayer[];
  cached: Cached | undefined;
}

interface Cached {
  readonly base: Held | undefined;
  readonly visible: Held | undefined;
}

/**
 * A replica with ordered layers over it: the client's overlay and the server's wave
 * (architecture.md, "Who owns what"; speculation.md, "Entries"). A document's visible value is the
 * base's value with the layers' operations applied in order. Operations are kept, never the values
 * they made, so that a base that moves is seen through every layer.
 *
 * Cost: a read of an instance without layers is one map lookup; any other work is proportional to
 * the layers on that one instance, never to the layers or instances of the view.
 *
 * - Over an instance that the base does not hold, a `set` or `delete` is visible and a patch is not:
 *   the instance stays pending until the base arrives.
 * - A layer whose operations do not apply to the base as it is now is skipped for that instance as a
 *   whole, reported to `onSkip` and listed by {@link skipped}; the others still apply.
 * - A layer whose operations the base already holds would show twice (field fault SP-02); its owner
 *   says so with {@link cover}, and it is passed over wherever the base has reached that seq.
 */
export class LayeredView implements BaseView {
  readonly #base: BaseView;
  readonly #onSkip: ((skipped: SkippedLayer) => void) | undefined;
  readonly #stacks = new Map<InstanceKey, Stack>();
  /** Each layer's place in the order: a replacement takes the place of what it replaces. */
  readonly #places = new Map<ViewLayer, number>();
  #nextPlace = 0;
  readonly #covered = new Map<ViewLayer, Seq>();

  constructor(base: BaseView, options: LayeredViewOptions = {}) {
    this.#base = base;
    this.#onSkip = options.onSkip;
  }

  /** The number of layers. */
  get size(): number {
    return this.#places.size;
  }

  /** The visible value; `undefined`: pending. The same object as before while nothing moved. */
  get(key: InstanceKey): Held | undefined {
    const stack = this.#stacks.get(key);
    const base = this.#base.get(key);
    if (stack === undefined) return base;
    const cached = stack.cached;
    if (cached !== undefined && sameHeld(cached.base, base)) return cached.visible;
    const visible = this.#materialise(key, base, stack.layers);
    stack.cached = { base, visible };
    return visible;
  }

  /** Puts a layer on top. A layer is in the view once: pushing it again throws a `TypeError`. */
  push(layer: ViewLayer): void {
    if (this.#places.has(layer)) throw new TypeError("this layer is already in the view");
    this.#places.set(layer, this.#nextPlace);
    this.#nextPlace += 1;
    for (const key of layer.ops.keys()) {
      const stack = this.#stacks.get(key);
      if (stack === undefined) {
        this.#stacks.set(key, { layers: [layer], cached: undefined });
        continue;
      }
      stack.layers.push(layer);
      this.#extendCache(key, stack, layer);
    }
  }

  /** Takes a layer out, wherever it stands. Returns the instances it wrote; none if it is not here. */
  remove(layer: ViewLayer): InstanceKey[] {
    if (!this.#places.delete(layer)) return [];
    this.#covered.delete(layer);
    const keys = [...layer.ops.keys()];
    for (const key of keys) this.#takeOut(key, layer);
    return keys;
  }

  /**
   * Puts `next` where `previous` stands, as a re-run of the same intent does: later layers stay above.
   * Returns every instance that either writes. Throws a `TypeError` if `previous` is not in the view or
   * `next` already is.
   */
  replace(previous: ViewLayer, next: ViewLayer): InstanceKey[] {
    const place = this.#places.get(previous);
    if (place === undefined) throw new TypeError("the layer to replace is not in the view");
    if (this.#places.has(next)) throw new TypeError("this layer is already in the view");
    const keys = new Set([...previous.ops.keys(), ...next.ops.keys()]);
    this.#places.delete(previous);
    this.#places.set(next, place);
    this.#covered.delete(previous);
    for (const key of previous.ops.keys()) this.#takeOut(key, previous);
    for (const key of next.ops.keys()) this.#putAt(key, next, place);
    return [...keys];
  }

  /**
   * Says that the commit at `seq` carries the layer's operations: the layer is passed over on every
   * instance whose base stands at or above it. Returns the instances whose visible value may differ.
   */
  cover(layer: ViewLayer, seq: Seq): InstanceKey[] {
    if (!this.#places.has(layer)) return [];
    this.#covered.set(layer, seq);
    const keys = [...layer.ops.keys()];
    for (const key of keys) this.invalidate(key);
    return keys;
  }

  /** Whether any layer writes the instance. */
  has(key: InstanceKey): boolean {
    return this.#stacks.has(key);
  }

  /** The instances that any layer writes. */
  keys(): IterableIterator<InstanceKey> {
    return this.#stacks.keys();
  }

  /** The layers that write the instance, lowest first. */
  layersOn(key: InstanceKey): readonly ViewLayer[] {
    return [...(this.#stacks.get(key)?.layers ?? [])];
  }

  /** Every layer, lowest first. */
  layers(): readonly ViewLayer[] {
    return [...this.#places].sort(([, a], [, b]) => a - b).map(([layer]) => layer);
  }

  /** The layers on the instance that do not apply to the base as it is now. */
  skipped(key: InstanceKey): readonly SkippedLayer[] {
    const stack = this.#stacks.get(key);
    const found: SkippedLayer[] = [];
    if (stack === undefined) return found;
    this.#fold(key, this.#base.get(key), stack.layers, (skip) => found.push(skip));
    return found;
  }

  /** Forgets what was computed for the instance. The view also notices by itself that the base moved. */
  invalidate(key: InstanceKey): void {
    const stack = this.#stacks.get(key);
    if (stack !== undefined) stack.cached = undefined;
  }

  #materialise(
    key: InstanceKey,
    base: Held | undefined,
    layers: readonly ViewLayer[],
  ): Held | undefined {
    return this.#fold(key, base, layers, (skip) => this.#onSkip?.(skip));
  }

  #fold(
    key: InstanceKey,
    base: Held | undefined,
    layers: readonly ViewLayer[],
    onSkip: (skip: SkippedLayer) => void,
  ): Held | undefined {
    let visible = base;
    for (const layer of layers) {
      if (this.#isCovered(layer, base)) continue;
      visible = applyLayer(key, visible, layer, onSkip);
    }
    return visible;
  }

  #isCovered(layer: ViewLayer, base: Held | undefined): boolean {
    const seq = this.#covered.get(layer);
    return seq !== undefined && base !== undefined && base.seq >= seq;
  }

  /** A new top layer is applied to the cached value alone. */
  #extendCache(key: InstanceKey, stack: Stack, layer: ViewLayer): void {
    const cached = stack.cached;
    if (cached === undefined) return;
    if (!sameHeld(cached.base, this.#base.get(key))) {
      stack.cached = undefined;
      return;
    }
    const report = (skip: SkippedLayer): void => this.#onSkip?.(skip);
    stack.cached = {
      base: cached.base,
      visible: applyLayer(key, cached.visible, layer, report),
    };
  }

  #takeOut(key: InstanceKey, layer: ViewLayer): void {
    const stack = this.#stacks.get(key);
    if (stack === undefined) return;
    stack.layers.splice(stack.layers.indexOf(layer), 1);
    stack.cached = undefined;
    if (stack.layers.length === 0) this.#stacks.delete(key);
  }

  #putAt(key: InstanceKey, layer: ViewLayer, place: number): void {
    const stack = this.#stacks.get(key);
    if (stack === undefined) {
      this.#stacks.set(key, { layers: [layer], cached: undefined });
      return;
    }
    const at = stack.layers.findIndex((other) => (this.#places.get(other) ?? 0) > place);
    stack.layers.splice(at === -1 ? stack.layers.length : at, 0, layer);
    stack.cached = undefined;
  }
}

/** A base may hand out a fresh object on each read: what it says is compared, not which object it is. */
function sameHeld(a: Held | undefined, b: Held | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return a.seq === b.seq && a.value === b.value && a.coverClass === b.coverClass;
}

const NEVER_WRITTEN = 0 as Seq;

/** One layer over one value. All of its operations apply, or none does. */
function applyLayer(
  key: InstanceKey,
  below: Held | undefined,
  layer: ViewLayer,
  onSkip: (skip: SkippedLayer) => void,
): Held | undefined {
  let pending = below === undefined;
  let value = below?.value;
  try {
    for (const op of layer.ops.get(key) ?? []) {
      if (pending && op.op === "patch") continue;
      value = applyOperation(value, op);
      pending = false;
    }
  } catch (error) {
    onSkip({ layer, key, error });
    return below;
  }
  if (pending) return undefined;
  return withValue(below, value);
}

function withValue(below: Held | undefined, value: JsonValue | undefined): Held {
  if (below === undefined) return { value, seq: NEVER_WRITTEN };
  if (below.value === value) return below;
  // By hand: a spread of a small object is most of what a layer costs.
  const { seq, coverClass } = below;
  return coverClass === undefined ? { value, seq } : { value, seq, coverClass };
}
