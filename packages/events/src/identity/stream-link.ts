import type { JsonValue, Link } from "@tidemark/protocol";

/**
 * The stream of an event as identity sees it: id, path, scope and space, each always present, so
 * that a link written short and one written out are the same stream.
 */
export function canonicalStream(stream: Link): { readonly [field: string]: JsonValue } {
  return {
    id: stream.id,
    path: [...(stream.path ?? [])],
    scope: stream.scope ?? "space",
    space: stream.space ?? null,
  };
}
