import type { Link } from "@tidemark/protocol";
import type { Draft } from "immer";
import type { NodeRef } from "./node-ref.js";

/** @internal Where handles keep their address. */
export const REF: unique symbol = Symbol("tidemark.ref");

/** What may be asked for below a value of type T. Tuples keep unions from being taken apart. */
export type KeyOf<T> = unknown extends T
  ? string | number
  : [NonNullable<T>] extends [readonly unknown[]]
    ? number
    : [NonNullable<T>] extends [object]
      ? keyof NonNullable<T> & string
      : string | number;

/** What is below it; `undefined` where a key or the value itself may be missing. */
export type At<T, K> = unknown extends T
  ? unknown
  : [NonNullable<T>] extends [readonly (infer E)[]]
    ? E | undefined
    : K extends keyof NonNullable<T>
      ? string extends keyof NonNullable<T>
        ? NonNullable<T>[K] | undefined
        : undefined extends T
          ? NonNullable<T>[K] | undefined
          : NonNullable<T>[K]
      : unknown;

/** Element of a list. */
export type ElementOf<T> = unknown extends T
  ? unknown
  : NonNullable<T> extends readonly (infer E)[]
    ? E
    : never;

/** What may be stored where `T` is read. */
export type Stored<T> = unknown extends T ? unknown : Exclude<T, undefined>;

/** Something that can be read: what functions take that only read. */
export interface Value<out T> {
  /** @internal */
  readonly [REF]: NodeRef;
  /** Its stored address. */
  readonly link: Link;
  /**
   * The value now. In a run the read is logged and the run repeats when it changes; links in the
   * value are replaced by what they lead to. Outside of one it is a plain read.
   *
   * @throws NarrowingUnsupportedError in a computed, for a user- or session-scoped cell.
   */
  get(): T;
}

/** Something with a value: a cell, a computed, a list, a part of the argument. */
export interface Readable<T> extends Value<T> {
  /** The part at a key or index. */
  key<K extends KeyOf<T>>(key: K): Readable<At<T, K>>;
  /** The keys, or the indices of a list, without their values: a change of a value repeats nothing. */
  keys(): readonly string[];
}

/** State of a piece. Writes are for handlers and edits; each throws a FrameError elsewhere. */
export interface Cell<T> extends Readable<T> {
  key<K extends KeyOf<T>>(key: K): Cell<At<T, K>>;
  /** Overwrites the value, or the part that this handle is of. */
  set(value: Stored<T>): void;
  /** Changes a draft of the value, or returns the next one. Becomes overwriting patches (R38). */
  update(recipe: (draft: Draft<T>) => T | void): void;
  /** Adds at the end of the list. Merges with what others add, and logs no read. */
  append(value: ElementOf<T>): void;
  /** Adds unless an equal element is there. Merges. */
  addUnique(value: ElementOf<T>): void;
  /** Adds to the number, 1 by default. Merges. */
  increment(by?: number): void;
  /** Replaces part of a list, or of a text by code points. Merges. */
  splice(index: number, remove: number, insert?: string | readonly ElementOf<T>[]): void;
  /** Takes the part out of its container; at the top, deletes the document. */
  remove(): void;
  /** Takes out every equal element. */
  removeValue(value: ElementOf<T>): void;
  /** Deletes the document, after which the cell reads as its default. Only at the top. */
  delete(): void;
}

/** A value that its computation alone writes. */
export type Computed<T> = Readable<T>;

/** Where a handler's events enter. */
export interface Stream<P> {
  /** @internal */
  readonly [REF]: NodeRef;
  readonly link: Link;
  /**
   * Sends an event under the actor of the run that sends. In a handler only.
   *
   * @throws ValueError for a payload that is not JSON.
   */
  send(payload: P): void;
}
