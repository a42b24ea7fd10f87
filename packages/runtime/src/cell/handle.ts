import { FrameError, type DocId, type Link } from "@tidemark/protocol";
import { currentFrame, placeOf } from "../frame/frame.js";
import type { CellAccess } from "./access.js";
import { childRef, linkOfRef, type NodeRef } from "./node-ref.js";
import { REF, type Cell, type Stream, type Value } from "./types.js";

/** The access of the frame that runs now, or the plain one of the handle's owner. */
function accessOf(ref: NodeRef): CellAccess {
  const frame = currentFrame();
  if (frame === undefined) {
    if (ref.owner !== undefined) return ref.owner.plain(ref.label);
    throw new FrameError(`${ref.label} belongs to no runtime and cannot be used outside a run`, {
      builtin: ref.label,
    });
  }
  if (frame.kind !== "body") return frame.access;
  const message = `${ref.label} cannot be used ${placeOf(frame)}: it has no value before the piece runs; read it in a computed or a handler`;
  throw new FrameError(message, { builtin: ref.label });
}

/** One class for everything with an address; the types say what may be done with which. */
class NodeHandle implements Cell<unknown> {
  readonly [REF]: NodeRef;
  readonly #access: CellAccess | undefined;

  constructor(ref: NodeRef, access?: CellAccess) {
    this[REF] = ref;
    this.#access = access;
  }

  get link(): Link {
    return linkOfRef(this[REF]);
  }

  get(): unknown {
    return this.#use().get(this[REF]);
  }

  key(key: string | number): NodeHandle {
    return new NodeHandle(childRef(this[REF], key), this.#access);
  }

  keys(): readonly string[] {
    return this.#use().keys(this[REF]);
  }

  set(value: unknown): void {
    this.#use().set(this[REF], value);
  }

  update(recipe: (draft: never) => unknown): void {
    this.#use().update(this[REF], recipe);
  }

  append(value: unknown): void {
    this.#use().merge(this[REF], { op: "append", value });
  }

  addUnique(value: unknown): void {
    this.#use().merge(this[REF], { op: "addUnique", value });
  }

  increment(by = 1): void {
    this.#use().merge(this[REF], { op: "increment", value: by });
  }

  splice(index: number, remove: number, insert: string | readonly unknown[] = []): void {
    this.#use().merge(this[REF], { op: "splice", index, remove, insert });
  }

  remove(): void {
    this.#use().remove(this[REF]);
  }

  removeValue(value: unknown): void {
    this.#use().removeValue(this[REF], value);
  }

  delete(): void {
    if (this[REF].path.length > 0) {
      throw new FrameError(`${this[REF].label} is part of a document; use remove()`, {
        builtin: "delete",
      });
    }
    this.#use().remove(this[REF]);
  }

  /** A stream's handle is this class too. */
  send(payload: unknown): void {
    this.#use().send(linkOfRef(this[REF]), payload);
  }

  #use(): CellAccess {
    return this.#access ?? accessOf(this[REF]);
  }
}

/** A handle of an address. */
export function cellHandle<T>(ref: NodeRef, access?: CellAccess): Cell<T> {
  return new NodeHandle(ref, access) as unknown as Cell<T>;
}

/** A handle of a stream. */
export function streamHandle<P>(
  stream: { readonly id: DocId; readonly label: string; readonly space?: NodeRef["space"] },
  options: { readonly owner?: NodeRef["owner"]; readonly access?: CellAccess | undefined } = {},
): Stream<P> {
  const ref: NodeRef = {
    id: stream.id,
    ...(stream.space === undefined ? {} : { space: stream.space }),
    scope: "space",
    path: [],
    label: stream.label,
    writable: false,
    owner: options.owner,
  };
  return new NodeHandle(ref, options.access) as unknown as Stream<P>;
}

/** Whether a value is a handle of this API. */
export function isHandle(value: unknown): value is Value<unknown> {
  return value instanceof NodeHandle;
}

/** The same address under another access: how `ctx.cell()` works after an `await`. */
export function withAccess<H extends Value<unknown> | Stream<never>>(
  handle: H,
  access: CellAccess,
): H {
  return new NodeHandle(handle[REF], access) as unknown as H;
}
