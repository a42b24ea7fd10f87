import { FrameError, type Grantee, type Link, type Principal } from "@tidemark/protocol";
import type { Cell, Stream } from "../cell/types.js";
import { createPieceIn, type CreatePieceOptions, type PieceLink } from "../piece/create.js";
import type { Pattern } from "../pattern/pattern.js";
import {
  abortRun,
  type AccessLevel,
  type CellAtOptions,
  cellFromLink,
  notServed,
  stageGrant,
  stageRevocation,
  streamFromLink,
} from "./context.js";
import { requireEvent } from "./frame.js";

/*
 * Ambient functions serve the handler that runs at this instant. Each throws a FrameError in a
 * pattern body, in a computed, after an `await` and outside every run.
 */

/** The same string on every run of one event, and on no run of another (seed 003). */
export function eventKey(): string {
  return requireEvent("eventKey").eventKey();
}

/** Wall milliseconds of the event's append, the same on every served run (R29). */
export function now(): number {
  return requireEvent("now").at;
}

/** A number in [0, 1); every run of the event gets the same sequence. */
export function random(): number {
  return requireEvent("random").random();
}

/** Whom the run acts as; `undefined` where nobody does. */
export function currentPrincipal(): Principal | undefined {
  return requireEvent("currentPrincipal").principal;
}

/** Ends the run without any of its writes: an error consequence (R14). */
export function abort(reason: string): never {
  return abortRun(requireEvent("abort"), reason);
}

/** Creates a piece in this space; its id comes from the event, so every run makes the same one. */
export function createPiece<A>(
  pattern: Pattern<A>,
  argument?: unknown,
  options?: CreatePieceOptions,
): PieceLink {
  return createPieceIn(requireEvent("createPiece"), pattern, argument, options);
}

/** A cell by its link, of another piece for instance; used in a run, it reads and writes there. */
export function cellAt<T>(link: Link, options?: CellAtOptions<T>): Cell<T> {
  return cellFromLink(link, options);
}

/** A stream by its link. */
export function streamAt<P>(link: Link): Stream<P> {
  return streamFromLink(link);
}

/** Sends the acting session somewhere. Not served yet. */
export function navigateTo(_target: unknown): never {
  requireEvent("navigateTo");
  return notServed("navigateTo");
}

/** Works in a space of its own. Not served yet. */
export function inSpace(_name: string): never {
  requireEvent("inSpace");
  return notServed("inSpace");
}

/** Emits a domain event. Not served yet. */
export function emit(_type: string, _payload: unknown): never {
  requireEvent("emit");
  return notServed("emit");
}

/**
 * Asks that somebody, or everybody (`"*"`), have exactly this level of access to the space from the event
 * on, also where it is less than before. The run only asks: the memory server decides as if the event's
 * actor had asked, before anything else of the run lands, and a refusal is the event's end (seed 001 §3d).
 *
 * @throws ProtocolError for what is no grantee or no level.
 */
export function grantSpaceAccess(grantee: Grantee, level: AccessLevel): void {
  stageGrant(requireEvent("grantSpaceAccess"), grantee, level);
}

/**
 * Asks that somebody be taken out of the space's access list, appends to single streams included; what
 * everybody may do stays theirs. Decided as {@link grantSpaceAccess} is.
 *
 * @throws ProtocolError for what is no grantee.
 */
export function revokeSpaceAccess(grantee: Grantee): void {
  stageRevocation(requireEvent("revokeSpaceAccess"), grantee);
}

/**
 * Declares a module of domain events and their consumers. Not served yet, so that no declaration is
 * taken and then ignored.
 *
 * @throws FrameError always.
 */
export function defineModule(_definition: unknown): never {
  throw new FrameError("defineModule() is not served yet", { builtin: "defineModule" });
}
