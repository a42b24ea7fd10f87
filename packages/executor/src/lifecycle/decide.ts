import {
  getAt,
  instanceKey,
  jsonEqual,
  SPACE_SCOPE_KEY,
  type ActionId,
  type Held,
  type InstanceKey,
  type JsonValue,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { Draft } from "../wave/accumulator.js";
import { pointsAtPattern } from "../tenure/pieces.js";
import { UnknownPieceError } from "./errors.js";
import { pieceDocument, type PreparedCreate, type PreparedVerb } from "./prepare.js";

/** What a verb comes to, over the piece's document as it stands. */
export type Decision =
  /** What is asked for is there. */
  | { readonly kind: "stands"; readonly seq: Seq }
  /** To be sealed into the open wave. */
  | { readonly kind: "seal"; readonly value: JsonValue }
  /** To be committed on its own, ahead of the wave. */
  | { readonly kind: "commit"; readonly value: JsonValue };

/** @throws UnknownPieceError; ProtocolError where the piece's argument does not fit the new pattern */
export function decideVerb(verb: PreparedVerb, held: Held, space: SpaceId): Decision {
  const { value, seq } = held;
  if (verb.verb === "create") {
    if (value !== undefined) return { kind: "stands", seq };
    if (seq > 0) throw unknown(verb, space, "was removed; a new piece takes another cause");
    return { kind: "seal", value: verb.value };
  }
  const { pattern, piece } = verb;
  if (value === undefined || !pointsAtPattern(value)) {
    throw unknown(verb, space, "is no piece");
  }
  const named = { id: pattern.id, version: pattern.version };
  if (jsonEqual(getAt(value, ["pattern"]), named)) return { kind: "stands", seq };
  return { kind: "commit", value: pieceDocument(pattern, getAt(value, ["argument"]), piece) };
}

/**
 * A creation's seal: bookkeeping for somebody. Over a document that was never written, any write that comes
 * before its wave drops it (seed 001 §3d).
 */
export function createDraft({ piece, principal }: PreparedCreate, value: JsonValue): Draft {
  const key = pieceKey(piece);
  return {
    kind: "bookkeeping",
    action: `tidemark/create@${piece}` as ActionId,
    instance: SPACE_SCOPE_KEY,
    actor: { user: principal },
    askedBy: principal,
    reads: [],
    elided: [],
    writes: [{ key, op: { op: "set", value } }],
    sends: [],
  };
}

/** The key of a piece's document. */
export function pieceKey(piece: PreparedVerb["piece"]): InstanceKey {
  return instanceKey(piece, SPACE_SCOPE_KEY);
}

function unknown({ piece, verb }: PreparedVerb, space: SpaceId, what: string): UnknownPieceError {
  return new UnknownPieceError(`${verb} in ${space}: ${piece} ${what}`, { space, piece });
}
