import type { JsonValue, Link } from "@tidemark/protocol";
import type { NodeRef } from "./node-ref.js";

/** Reads and writes on behalf of handles: a transaction, or the plain reads outside of one. */
export interface CellAccess {
  /** The value, links in it replaced by what they lead to. */
  get(ref: NodeRef): JsonValue | undefined;
  /** The value as stored; links on the way to it are followed, links in it are left. */
  getRaw(ref: NodeRef): JsonValue | undefined;
  /** Keys of an object, indices of a list: a read of the shape alone. */
  keys(ref: NodeRef): readonly string[];
  set(ref: NodeRef, value: unknown): void;
  update(ref: NodeRef, recipe: (draft: never) => unknown): void;
  merge(ref: NodeRef, op: MergeRequest): void;
  /** Takes the value at the path out of its container; the document itself where the path is empty. */
  remove(ref: NodeRef): void;
  /** Takes out every element of the list that equals the value. */
  removeValue(ref: NodeRef, value: unknown): void;
  send(stream: Link, payload: unknown): void;
}

/** A merging operation as asked for, its values not checked yet. */
export type MergeRequest =
  | { readonly op: "append" | "addUnique"; readonly value: unknown }
  | { readonly op: "increment"; readonly value: number }
  | {
      readonly op: "splice";
      readonly index: number;
      readonly remove: number;
      readonly insert: string | readonly unknown[];
    };
