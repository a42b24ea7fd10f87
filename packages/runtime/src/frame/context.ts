import {
  grantOf,
  revocationOf,
  toLinkValue,
  type AclLevel,
  type Grantee,
  type JsonValue,
  type Link,
  type Principal,
} from "@tidemark/protocol";
import { cellHandle, streamHandle, withAccess } from "../cell/handle.js";
import { linkOfRef } from "../cell/node-ref.js";
import { REF, type Cell, type Readable, type Stream, type Value } from "../cell/types.js";
import { AbortError, NotServedError } from "../errors.js";
import { createPieceIn, type CreatePieceOptions, type PieceLink } from "../piece/create.js";
import type { Pattern } from "../pattern/pattern.js";
import type { EventScope } from "./event-scope.js";

/** Access levels of a space's list. */
export type AccessLevel = AclLevel;

/** Options of a handle made from a link. */
export interface CellAtOptions<T> {
  /** What it reads as while the document is absent. */
  readonly default?: T;
}

/**
 * A handler's second argument: every function of the frame, working for the whole run, also after an
 * `await`, where the ambient ones throw (R23). Used after the run has ended, everything throws.
 */
export interface HandlerContext {
  /** The same cell, computed or list, read and written in this run. */
  cell<T>(cell: Cell<T>): Cell<T>;
  cell<T>(value: Readable<T>): Readable<T>;
  /** The same stream, sent to by this run. */
  stream<P>(stream: Stream<P>): Stream<P>;
  /** A cell by its link, of another piece for instance. */
  cellAt<T>(link: Link, options?: CellAtOptions<T>): Cell<T>;
  /** A stream by its link. */
  streamAt<P>(link: Link): Stream<P>;
  /** The same string on every run of one event, and on no run of another (seed 003). */
  eventKey(): string;
  /** Wall milliseconds of the event's append, the same on every served run (R29). */
  now(): number;
  /** A number in [0, 1); every run of the event gets the same sequence. */
  random(): number;
  /** Whom the run acts as; `undefined` where nobody does. */
  currentPrincipal(): Principal | undefined;
  /** Ends the run without any of its writes: an error consequence (R14). */
  abort(reason: string): never;
  /** Creates a piece in this space; its id comes from the event, so every run makes the same one. */
  createPiece<A>(pattern: Pattern<A>, argument?: unknown, options?: CreatePieceOptions): PieceLink;
  navigateTo(target: unknown): never;
  inSpace(name: string): never;
  emit(type: string, payload: unknown): never;
  /** See the ambient {@link grantSpaceAccess}. */
  grantSpaceAccess(grantee: Grantee, level: AccessLevel): void;
  /** See the ambient {@link revokeSpaceAccess}. */
  revokeSpaceAccess(grantee: Grantee): void;
}

/** The functions of one run's frame. Ambient functions call the same ones. */
export function contextFor(event: EventScope): HandlerContext {
  const { tx } = event;
  const use = <H extends Value<unknown> | Stream<never>>(handle: H): H => withAccess(handle, tx);
  return {
    cell: use as HandlerContext["cell"],
    stream: use as HandlerContext["stream"],
    cellAt: (link, options) => cellFromLink(link, options, tx),
    streamAt: (link) => streamFromLink(link, tx),
    eventKey: () => event.eventKey(),
    now: () => event.at,
    random: () => event.random(),
    currentPrincipal: () => event.principal,
    abort: (reason) => abortRun(event, reason),
    createPiece: (pattern, argument, options) => createPieceIn(event, pattern, argument, options),
    navigateTo: () => notServed("navigateTo"),
    inSpace: () => notServed("inSpace"),
    emit: () => notServed("emit"),
    grantSpaceAccess: (grantee, level) => stageGrant(event, grantee, level),
    revokeSpaceAccess: (grantee) => stageRevocation(event, grantee),
  };
}

/** A handle of what a link leads to. Without access it works in whatever run uses it. */
export function cellFromLink<T>(
  link: Link,
  options: CellAtOptions<T> = {},
  access?: EventScope["tx"],
): Cell<T> {
  return cellHandle<T>(
    {
      id: link.id,
      ...(link.space === undefined ? {} : { space: link.space }),
      scope: link.scope ?? "space",
      path: link.path ?? [],
      initial: options.default as JsonValue | undefined,
      label: link.id,
      writable: true,
    },
    access,
  );
}

/** A handle of the stream a link leads to. */
export function streamFromLink<P>(link: Link, access?: EventScope["tx"]): Stream<P> {
  const { id, space } = link;
  return streamHandle({ id, label: id, space }, { access });
}

/** The stored form of a handle's address, for values that hold links. */
export function linkValueOf(handle: Value<unknown> | Stream<never>): JsonValue {
  return toLinkValue(linkOfRef(handle[REF]));
}

/**
 * The reason is the message: whoever is shown how the event ended reads it as the pattern wrote it, as the
 * message of a throw. That it was an abort is the error's code.
 *
 * @throws AbortError always; the run remembers, whatever its code catches.
 */
export function abortRun(event: EventScope, reason: string): never {
  const error = new AbortError(reason === "" ? "the handler aborted" : reason, { reason });
  event.tx.abort(error);
  throw error;
}

/** @throws ProtocolError for what is no grantee or no level. */
export function stageGrant(event: EventScope, grantee: Grantee, level: AccessLevel): void {
  event.tx.stageAccess("grantSpaceAccess", grantOf(grantee, level));
}

/** @throws ProtocolError for what is no grantee. */
export function stageRevocation(event: EventScope, grantee: Grantee): void {
  event.tx.stageAccess("revokeSpaceAccess", revocationOf(grantee));
}

/** @throws NotServedError always. */
export function notServed(builtin: string): never {
  throw new NotServedError(`${builtin}() is not served yet`, { builtin });
}
