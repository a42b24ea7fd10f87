import type { ZodType } from "zod";
import { cellHandle } from "../cell/handle.js";
import type { Computed } from "../cell/types.js";
import { requireBuild } from "../frame/frame.js";

/** Words about a node, for editors. */
export interface NodeOptions {
  readonly schema?: ZodType;
  readonly title?: string;
  readonly description?: string;
}

/**
 * Declares a derived value. The function reads cells and other derivations, runs again when what its
 * last run read has changed, and writes nothing. `undefined` deletes the document; a throw keeps the
 * last value (R32).
 *
 * @throws FrameError outside a pattern's `build`; PatternError for a missing or repeated name.
 */
export function computed<T>(
  name: string,
  compute: () => T,
  options: NodeOptions = {},
): Computed<T> {
  const build = requireBuild("computed");
  const id = build.nodeId(name);
  const node = build.add({ kind: "computed", name, id, compute, ...options });
  return cellHandle<T>(build.ref(node));
}
