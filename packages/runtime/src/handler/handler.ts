import { z, type ZodType } from "zod";
import { streamHandle } from "../cell/handle.js";
import type { Stream } from "../cell/types.js";
import type { HandlerContext } from "../frame/context.js";
import { requireBuild } from "../frame/frame.js";

/** Words about a handler, for the forms that editors make of it. */
export interface HandlerOptions {
  readonly title?: string;
  readonly description?: string;
}

/** The body of a handler. It may be async: what follows an `await` uses `ctx` alone (R23). */
export type HandlerBody<P> = (payload: P, ctx: HandlerContext) => unknown;

/**
 * Declares a handler and returns the stream that its events enter by. The payload is parsed by the
 * schema on every run; one that does not parse is an error consequence. What the body returns is the
 * event's receipt.
 *
 * @throws FrameError outside a pattern's `build`; PatternError for a missing or repeated name.
 */
export function handler<S extends ZodType>(
  name: string,
  payload: S,
  handle: HandlerBody<z.output<S>>,
  options: HandlerOptions = {},
): Stream<z.input<S>> {
  const build = requireBuild("handler");
  const id = build.streamId(name);
  build.add({ kind: "handler", name, id, schema: payload, handle, ...options });
  const label = `${build.patternId}/${name}`;
  return streamHandle({ id, label }, { owner: build.owner });
}

/** A handler of events without content. */
export function action(
  name: string,
  handle: (ctx: HandlerContext) => unknown,
  options: HandlerOptions = {},
): Stream<null | undefined | void> {
  const nothing = z.unknown();
  return handler(name, nothing, (_payload, ctx) => handle(ctx), options);
}
