import { type ScopeKind, validateJson } from "@tidemark/protocol";
import type { ZodType, z } from "zod";
import { PatternError } from "../errors.js";
import { requireBuild } from "../frame/frame.js";
import { cellHandle } from "./handle.js";
import type { Cell } from "./types.js";

/** What {@link cell} takes beside name and schema. */
export interface CellOptions<T> {
  /** Whose instances it has: one for the space (the default), one per user, one per session. */
  readonly scope?: ScopeKind;
  /** What it reads as until it is written. Never stored by itself. */
  readonly default?: T;
  readonly title?: string;
  readonly description?: string;
}

/**
 * Declares state. The schema gives the type and the form of editors; writes are not checked by it.
 *
 * @throws FrameError outside a pattern's `build`; PatternError for a missing or repeated name, or a
 *   default that is not JSON.
 */
export function cell<S extends ZodType>(
  name: string,
  schema: S,
  options: CellOptions<z.output<S>> & { readonly default: z.output<S> },
): Cell<z.output<S>>;
export function cell<S extends ZodType>(
  name: string,
  schema: S,
  options?: CellOptions<z.output<S>>,
): Cell<z.output<S> | undefined>;
export function cell<S extends ZodType>(
  name: string,
  schema: S,
  options: CellOptions<z.output<S>> = {},
): Cell<z.output<S>> {
  const build = requireBuild("cell");
  const id = build.nodeId(name);
  const initial = options.default === undefined ? undefined : validateJson(options.default);
  if (initial?.ok === false) {
    throw new PatternError(`the default of cell ${name} is not JSON: ${initial.error.message}`, {
      patternId: build.patternId,
      node: name,
    });
  }
  const node = build.add({
    kind: "cell",
    name,
    id,
    schema,
    scope: options.scope ?? "space",
    initial: initial?.value,
    title: options.title,
    description: options.description,
  });
  return cellHandle(build.ref(node));
}
