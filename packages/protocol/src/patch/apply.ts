import { unreachable } from "../base/assert.js";
import { PatchError, type PatchReason } from "../errors/values.js";
import { jsonEqual } from "../json/equal.js";
import { childOf } from "../json/get-at.js";
import { isJsonArray, isJsonObject } from "../json/own.js";
import type { JsonArray, JsonValue } from "../json/json-value.js";
import { MAX_JSON_DEPTH } from "../json/validate.js";
import {
  type Owned,
  withAppended,
  withElement,
  withKey,
  withoutKey,
  withSpliced,
} from "./containers.js";
import { spliceText } from "./text-splice.js";
import type { MergingOp, PatchOp, SpliceOp, ValueOperation } from "./operations.js";
import { isMerging } from "./paths.js";

/**
 * The value after `ops`, in order. The input is never mutated and the result shares with it whatever
 * did not change; where nothing changed it is the input itself. An absent document (undefined) takes
 * a replace of the whole, or a merging operation, which starts from its `ifAbsent` or, at the root,
 * from the empty value of its kind (R24).
 *
 * @throws PatchError when an operation does not apply; nothing of the patch is then done.
 */
export function applyPatch(value: JsonValue | undefined, ops: readonly PatchOp[]): JsonValue {
  const owned: Owned = ops.length > 1 ? new Set() : undefined;
  let current = value;
  for (let index = 0; index < ops.length; index++) {
    current = applyOp(current, ops[index] as PatchOp, index, owned);
  }
  if (current === undefined) {
    throw new PatchError("An empty patch cannot create a document.", {
      path: [],
      reason: "no-document",
    });
  }
  return current;
}

/** The value after `operation`, undefined when that deletes it. @throws PatchError as applyPatch. */
export function applyOperation(
  value: JsonValue | undefined,
  operation: ValueOperation,
): JsonValue | undefined {
  switch (operation.op) {
    case "set":
      return operation.value;
    case "delete":
      return undefined;
    case "patch":
      return applyPatch(value, operation.value);
    default:
      return unreachable(operation);
  }
}

function applyOp(
  value: JsonValue | undefined,
  op: PatchOp,
  index: number,
  owned: Owned,
): JsonValue {
  const step = new Step(op, index, owned);
  step.checkPath();
  if (op.path.length === 0) return step.root(value);
  const base = value === undefined && isMerging(op) ? op.ifAbsent : value;
  if (base === undefined) throw step.refuse("no-document", "the document is absent");
  return step.descend(base, 0);
}

/** One operation on its way down its path. */
class Step {
  readonly #op: PatchOp;
  readonly #index: number;
  readonly #owned: Owned;

  constructor(op: PatchOp, index: number, owned: Owned) {
    this.#op = op;
    this.#index = index;
    this.#owned = owned;
  }

  refuse(reason: PatchReason, why: string): PatchError {
    const { op, path } = this.#op;
    return new PatchError(
      `Patch operation ${this.#index} (${op} at ${JSON.stringify(path)}) does not apply: ${why}.`,
      { path, reason, index: this.#index },
    );
  }

  checkPath(): void {
    const { path } = this.#op;
    if (path.length > MAX_JSON_DEPTH) throw this.refuse("bad-path", "its path is too long");
  }

  /** The operation on the whole value. */
  root(value: JsonValue | undefined): JsonValue {
    const op = this.#op;
    if (op.op === "replace" || op.op === "add") return this.#fits(op.value, MAX_JSON_DEPTH);
    if (op.op !== "remove") return this.#merge(value === undefined ? op.ifAbsent : value, op);
    if (op.value !== undefined && value !== undefined) return this.#withoutValue(value, op.value);
    throw this.refuse("root-removal", "the whole value is removed by a delete, not by a patch");
  }

  /** The operation below `node`, whose place is `depth` steps down the path. */
  descend(node: JsonValue, depth: number): JsonValue {
    const { path } = this.#op;
    const segment = path[depth] as string | number;
    if (typeof segment === "number" ? !isJsonArray(node) : !isJsonObject(node)) {
      const wanted = typeof segment === "number" ? "list" : "object";
      throw this.refuse("no-container", `there is no ${wanted} at ${at(path, depth)}`);
    }
    const child = childOf(node, segment);
    if (depth === path.length - 1) return this.#edit(node, segment, child);
    if (child === undefined) {
      throw this.refuse("no-container", `there is nothing at ${at(path, depth + 1)}`);
    }
    const next = this.descend(child, depth + 1);
    return next === child ? node : this.#put(node, segment, next);
  }

  #edit(node: JsonValue, segment: string | number, child: JsonValue | undefined): JsonValue {
    const op = this.#op;
    switch (op.op) {
      case "replace":
        return this.#put(node, segment, this.#fits(op.value, MAX_JSON_DEPTH - op.path.length));
      case "add": {
        const value = this.#fits(op.value, MAX_JSON_DEPTH - op.path.length);
        if (typeof segment === "string" || !isJsonArray(node)) {
          return this.#put(node, segment, value);
        }
        this.#checkIndex(segment, node.length);
        return withSpliced(node, segment, 0, [value], this.#owned);
      }
      case "remove":
        return this.#remove(node, segment, child, op.value);
      default: {
        if (child === undefined && typeof segment === "number") {
          throw this.refuse("bad-index", "the list has no such element");
        }
        const next = this.#merge(child, op);
        return next === child ? node : this.#put(node, segment, next);
      }
    }
  }

  #put(node: JsonValue, segment: string | number, value: JsonValue): JsonValue {
    if (typeof segment === "string") return withKey(node as never, segment, value, this.#owned);
    const array = node as JsonArray;
    this.#checkIndex(segment, array.length);
    return withElement(array, segment, value, this.#owned);
  }

  #remove(
    node: JsonValue,
    segment: string | number,
    child: JsonValue | undefined,
    value: JsonValue | undefined,
  ): JsonValue {
    if (value !== undefined) {
      if (child === undefined) return node;
      const next = this.#withoutValue(child, value);
      return next === child ? node : this.#put(node, segment, next);
    }
    if (typeof segment === "string") return withoutKey(node as never, segment, this.#owned);
    const array = node as JsonArray;
    this.#checkIndex(segment, array.length - 1);
    return withSpliced(array, segment, 1, [], this.#owned);
  }

  #withoutValue(list: JsonValue, value: JsonValue): JsonValue {
    if (!isJsonArray(list)) throw this.refuse("not-a-list", "there is no list at its path");
    if (!list.some((item) => jsonEqual(item, value))) return list;
    return list.filter((item) => !jsonEqual(item, value));
  }

  #merge(value: JsonValue | undefined, op: MergingOp): JsonValue {
    switch (op.op) {
      case "append":
        return withAppended(this.#list(value), this.#element(op.value), this.#owned);
      case "addUnique": {
        const list = this.#list(value);
        if (list.some((item) => jsonEqual(item, op.value))) return list;
        return withAppended(list, this.#element(op.value), this.#owned);
      }
      case "increment":
        return this.#increment(value === undefined ? 0 : value, op.value);
      case "splice":
        return this.#splice(value === undefined ? emptyLike(op.insert) : value, op);
      default:
        return unreachable(op);
    }
  }

  #list(value: JsonValue | undefined): JsonArray {
    if (value === undefined) return [];
    if (isJsonArray(value)) return value;
    throw this.refuse("not-a-list", "there is no list at its path");
  }

  #increment(value: JsonValue, by: number): number {
    if (typeof value !== "number") throw this.refuse("not-a-number", "there is no number there");
    if (by === 0 || !Number.isFinite(by)) throw this.refuse("bad-value", `${by} is no increment`);
    const sum = value + by;
    if (!Number.isFinite(sum)) throw this.refuse("bad-value", "the sum is no finite number");
    // −0 + 0 is 0: sums are stored as R11 says.
    return sum + 0;
  }

  #splice(value: JsonValue, op: SpliceOp): JsonValue {
    if (!isCount(op.index) || !isCount(op.remove)) {
      throw this.refuse("bad-index", "index and remove are integers of 0 or more");
    }
    if (typeof value === "string" && typeof op.insert === "string") {
      const text = spliceText(value, op.index, op.remove, op.insert);
      if (text === undefined) throw this.refuse("bad-value", "it inserts a lone surrogate");
      return text;
    }
    if (!isJsonArray(value) || typeof op.insert === "string") {
      throw this.refuse("not-text-or-list", "text goes into text, elements into a list");
    }
    for (const item of op.insert) this.#element(item);
    const index = Math.min(op.index, value.length);
    const remove = Math.min(op.remove, value.length - index);
    return withSpliced(value, index, remove, op.insert, this.#owned);
  }

  #element(value: JsonValue): JsonValue {
    return this.#fits(value, MAX_JSON_DEPTH - this.#op.path.length - 1);
  }

  /** A value that would nest deeper than a reader accepts must not get in by small steps. */
  #fits(value: JsonValue, depth: number): JsonValue {
    if (exceedsDepth(value, depth)) throw this.refuse("too-deep", "the result nests too deep");
    return value;
  }

  #checkIndex(index: number, last: number): void {
    if (!isCount(index) || index > last) {
      throw this.refuse("bad-index", `the list has no index ${index}`);
    }
  }
}

function at(path: readonly (string | number)[], depth: number): string {
  return JSON.stringify(path.slice(0, depth));
}

function emptyLike(insert: JsonArray | string): JsonValue {
  return typeof insert === "string" ? "" : [];
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function exceedsDepth(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth <= 0) return true;
  if (isJsonArray(value)) return value.some((item) => exceedsDepth(item, depth - 1));
  for (const key in value) {
    if (exceedsDepth((value as never)[key], depth - 1)) return true;
  }
  return false;
}
