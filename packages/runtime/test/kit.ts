import { must, type DocId, type JsonValue } from "@tidemark/protocol";
import type { Piece } from "../src/index.js";
import type { TestSpace } from "../src/testing/index.js";

/** The document of a node of a piece. */
export function idOf(piece: Piece, node: string): DocId {
  return must(piece.nodes.get(node), `node ${node}`).id;
}

/** What the store holds for a node. */
export function stored(space: TestSpace, piece: Piece, node: string): JsonValue | undefined {
  return space.stored(idOf(piece, node));
}

/** Runs of derivations sealed so far, by node name, list children and all. */
export function runsOf(space: TestSpace, node: string): number {
  return space.sealed.filter((run) => {
    const { action } = run.context;
    return action.slice(action.indexOf("/") + 1, action.lastIndexOf("@")) === node;
  }).length;
}
