import { docKind, isDocId, isSpaceId } from "@tidemark/protocol";
import type { DocId, SpaceId } from "@tidemark/protocol";

/** Where a link leads. */
export type Route =
  | { readonly page: "home" }
  | { readonly page: "space"; readonly space: SpaceId }
  | { readonly page: "piece"; readonly space: SpaceId; readonly piece: DocId }
  | { readonly page: "unknown"; readonly hash: string };

/** Reads the part of an address behind the `#`. Never throws: a link may be anything. */
export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#?\/?/u, "").split("/");
  if (parts.length === 1 && parts[0] === "") return { page: "home" };
  const [kind, space, below, piece] = parts.map(decoded);
  const unknown: Route = { page: "unknown", hash };
  if (kind !== "space" || space === undefined || !isSpaceId(space)) return unknown;
  if (parts.length === 2 || (parts.length === 3 && below === "")) return { page: "space", space };
  if (parts.length !== 4 || below !== "piece" || piece === undefined) return unknown;
  return isDocId(piece) && docKind(piece) === "piece" ? { page: "piece", space, piece } : unknown;
}

/** The link to a space. */
export function spaceHref(space: SpaceId): string {
  return `#/space/${space}`;
}

/** The link to a piece. */
export function pieceHref(space: SpaceId, piece: DocId): string {
  return `#/space/${space}/piece/${piece}`;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
