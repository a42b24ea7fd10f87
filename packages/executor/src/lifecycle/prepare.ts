import {
  docId,
  pieceIdFor,
  principal as principalOf,
  ProtocolError,
  validateJson,
  type DocId,
  type IdSource,
  type JsonValue,
  type Principal,
} from "@tidemark/protocol";
import { describePiece, type Pattern, type PatternRegistry } from "@tidemark/runtime";
import type { CreateVerb, LifecycleVerb, SetSourceVerb } from "./verbs.js";

/** A verb with everything that no store is needed for. */
export type PreparedVerb = PreparedCreate | PreparedSetSource;

export interface PreparedCreate {
  readonly verb: "create";
  readonly principal: Principal;
  readonly piece: DocId;
  /** The piece's document. */
  readonly value: JsonValue;
}

export interface PreparedSetSource {
  readonly verb: "setsrc";
  readonly principal: Principal;
  readonly piece: DocId;
  readonly pattern: Pattern;
  readonly cause?: JsonValue;
}

/**
 * Refuses what no space could serve, before one is activated for it.
 *
 * @throws UnknownPatternError; ProtocolError for what is no principal or piece's id, and for an argument that
 * does not fit; ValueError for what is no JSON
 */
export function prepareVerb(
  verb: LifecycleVerb,
  patterns: Pick<PatternRegistry, "get">,
  ids: IdSource,
): PreparedVerb {
  principalOf(verb.principal);
  switch (verb.verb) {
    case "create":
      return prepareCreate(verb, patternOf(verb, patterns), ids);
    case "setsrc":
      return prepareSource(verb, patternOf(verb, patterns));
    default:
      return unknownVerb(verb);
  }
}

function patternOf(
  { pattern: { id, version } }: LifecycleVerb,
  patterns: Pick<PatternRegistry, "get">,
): Pattern {
  return patterns.get(id, version);
}

/** Whoever calls from JavaScript may ask for anything. */
function unknownVerb(verb: never): never {
  const { verb: asked } = verb as { readonly verb: unknown };
  throw new ProtocolError(
    `there is no verb ${JSON.stringify(asked)}; ask for "create" or "setsrc"`,
    { path: ["verb"] },
  );
}

/** A piece's document as it is stored. @throws ProtocolError, ValueError */
export function pieceDocument(pattern: Pattern, argument: unknown, piece: DocId): JsonValue {
  return storable(describePiece(pattern, argument, piece));
}

function prepareCreate(
  { principal, argument, cause }: CreateVerb,
  pattern: Pattern,
  ids: IdSource,
): PreparedCreate {
  const piece = pieceIdFor(
    cause === undefined ? { by: principal, ulid: ids.ulid() } : storable(cause),
  );
  return { verb: "create", principal, piece, value: pieceDocument(pattern, argument, piece) };
}

function prepareSource(
  { principal, piece, cause }: SetSourceVerb,
  pattern: Pattern,
): PreparedSetSource {
  const prepared = { verb: "setsrc", principal, piece: docId(piece), pattern } as const;
  return cause === undefined ? prepared : { ...prepared, cause: storable(cause) };
}

function storable(value: unknown): JsonValue {
  const json = validateJson(value);
  if (!json.ok) throw json.error;
  return json.value;
}
