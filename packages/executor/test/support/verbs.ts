import {
  pieceIdFor,
  SPACE_SCOPE_KEY,
  type AcceptedCommit,
  type DocId,
  type JsonValue,
  type Principal,
  type Seq,
} from "@tidemark/protocol";
import { describePiece, type Pattern } from "@tidemark/runtime";
import type { CreateVerb, LifecycleResult, LifecycleVerb, SetSourceVerb } from "../../src/index.js";
import type { World } from "./world.js";

/** What a promise came to so far. */
export interface Asked {
  readonly answer: Promise<LifecycleResult>;
  result?: LifecycleResult;
  error?: unknown;
}

/** Asks without waiting. */
export function ask(w: Pick<World, "space" | "host">, verb: LifecycleVerb, host = w.host): Asked {
  const asked: Asked = { answer: host.lifecycle(w.space, verb) };
  asked.answer.then(
    (result) => (asked.result = result),
    (error: unknown) => (asked.error = error),
  );
  return asked;
}

const nameOf = ({ id, version }: Pattern) => ({ id, version });

export function create(
  principal: Principal,
  pattern: Pattern,
  rest: Partial<CreateVerb> = {},
): CreateVerb {
  return { verb: "create", principal, pattern: nameOf(pattern), cause: "the piece", ...rest };
}

export function setsrc(
  principal: Principal,
  piece: DocId,
  pattern: Pattern,
  rest: Partial<SetSourceVerb> = {},
): SetSourceVerb {
  return { verb: "setsrc", principal, piece, pattern: nameOf(pattern), ...rest };
}

/** The id that {@link create} asks for. */
export const THE_PIECE = pieceIdFor("the piece");

export function engineOf(w: World) {
  const engine = w.t.engines.get(w.space);
  if (engine === undefined) throw new Error("the space has no store");
  return engine;
}

export function document(w: World, id: DocId): JsonValue | undefined {
  return engineOf(w).read(id, SPACE_SCOPE_KEY).value;
}

export function commitsAfter(w: World, seq: Seq): readonly AcceptedCommit[] {
  return engineOf(w).commitsSince(seq);
}

/** Which documents each commit above `seq` writes. */
export function writtenAfter(w: World, seq: Seq): readonly (readonly DocId[])[] {
  return commitsAfter(w, seq).map(({ changes }) => changes.map(({ id }) => id));
}

/** What a client's swap to the pattern writes. */
export function swapped(piece: DocId, pattern: Pattern, argument: unknown = {}) {
  const value = describePiece(pattern, argument, piece) as unknown as JsonValue;
  return { ops: [{ op: "set", id: piece, value }] as never };
}
