import type { DocId } from "../ids/ids.js";
import type { JsonValue, Path } from "../json/json-value.js";
import type { ScopeKind } from "../scope/scope.js";

/** What the merging operations share. */
interface Merging {
  readonly path: Path;
  /**
   * The value that the whole DOCUMENT starts from when it is absent: the cell's declared default, so
   * that two first writers merge (R24). Ignored where the document exists.
   */
  readonly ifAbsent?: JsonValue;
}

/** Writes an object's key or an array's element; with an empty path, the whole value. */
export interface ReplaceOp {
  readonly op: "replace";
  readonly path: Path;
  readonly value: JsonValue;
}

/** As replace for an object's key; inserts before an array's element. */
export interface AddOp {
  readonly op: "add";
  readonly path: Path;
  readonly value: JsonValue;
}

/**
 * Takes a key or an element out. With `value`, takes every element equal to it out of the array at
 * `path` (ADM-23). A key or a value that is not there is no error.
 */
export interface RemoveOp {
  readonly op: "remove";
  readonly path: Path;
  readonly value?: JsonValue;
}

/** Adds one element at the end of an array. */
export interface AppendOp extends Merging {
  readonly op: "append";
  readonly value: JsonValue;
}

/** Adds one element at the end of an array unless an equal one is in it. */
export interface AddUniqueOp extends Merging {
  readonly op: "addUnique";
  readonly value: JsonValue;
}

/** Adds to a number; by 0 is refused (ADM-23). */
export interface IncrementOp extends Merging {
  readonly op: "increment";
  readonly value: number;
}

/**
 * Replaces `remove` elements of an array, or code points of a text, from `index` on. An index past
 * the end means the end, since others may have shortened it.
 */
export interface SpliceOp extends Merging {
  readonly op: "splice";
  readonly index: number;
  readonly remove: number;
  readonly insert: readonly JsonValue[] | string;
}

/** Operations that replace what stood there (protocol.md §8). */
export type OverwritingOp = ReplaceOp | AddOp | RemoveOp;
/** Operations that merge into what stands there (protocol.md §8). */
export type MergingOp = AppendOp | AddUniqueOp | IncrementOp | SpliceOp;
/** One step of a patch. */
export type PatchOp = OverwritingOp | MergingOp;

/** What happens to one document instance. */
export type ValueOperation =
  | { readonly op: "set"; readonly value: JsonValue }
  | { readonly op: "delete" }
  | { readonly op: "patch"; readonly value: readonly PatchOp[] };

/** An authored operation: it names the scope's kind only, and the server resolves the key. */
export type DocOperation = ValueOperation & { readonly id: DocId; readonly scope?: ScopeKind };
