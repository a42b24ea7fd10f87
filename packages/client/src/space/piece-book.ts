import { asLink, getOwn, instanceKey, isJsonObject, SPACE_SCOPE_KEY } from "@tidemark/protocol";
import type { DocId, InstanceKey, JsonValue, Link } from "@tidemark/protocol";
import { nodeLink } from "@tidemark/runtime";
import type { Pattern, PatternRegistry, PieceNode } from "@tidemark/runtime";

/** A pattern's nodes, bound to one piece. */
export type BuiltPattern = ReturnType<Pattern["instantiate"]>;

/** A piece as its document describes it, with its pattern where this client has it. */
export interface PieceModel {
  readonly id: DocId;
  readonly key: InstanceKey;
  /** The document's value. */
  readonly document: JsonValue;
  readonly pattern: Pattern | undefined;
  readonly built: BuiltPattern | undefined;
}

/** The instance of a piece's document. */
export function pieceKey(id: DocId): InstanceKey {
  return instanceKey(id, SPACE_SCOPE_KEY);
}

const PIECE_PREFIX = `${SPACE_SCOPE_KEY} piece:`;

/** The piece that an instance is the document of. */
export function pieceOfKey(key: InstanceKey): DocId | undefined {
  // By its letters alone, since every moved key is asked.
  if (!key.startsWith(PIECE_PREFIX)) return undefined;
  return key.slice(SPACE_SCOPE_KEY.length + 1) as DocId;
}

/** The name and version that a piece's document points at. */
export function patternRef(
  document: JsonValue | undefined,
): { id: string; version: string } | undefined {
  const ref = isJsonObject(document) ? getOwn(document, "pattern") : undefined;
  if (!isJsonObject(ref)) return undefined;
  const id = getOwn(ref, "id");
  const version = getOwn(ref, "version");
  return typeof id === "string" && typeof version === "string" ? { id, version } : undefined;
}

/** Every link to a node that a piece's document holds. */
export function nodeLinks(document: JsonValue | undefined): readonly Link[] {
  if (!isJsonObject(document)) return [];
  const links: Link[] = [];
  for (const part of ["result", "internal"]) {
    const named = getOwn(document, part);
    if (!isJsonObject(named)) continue;
    for (const value of Object.values(named)) {
      const link = asLink(value);
      if (link !== undefined) links.push(link);
    }
  }
  return links;
}

/** Reads pieces' documents with the patterns that this client knows. */
export class PieceBook {
  readonly #registry: PatternRegistry;
  readonly #read: (key: InstanceKey) => JsonValue | undefined;
  readonly #models = new Map<DocId, PieceModel>();

  constructor(registry: PatternRegistry, read: (key: InstanceKey) => JsonValue | undefined) {
    this.#registry = registry;
    this.#read = read;
  }

  /** The piece as it looks now; `undefined` while its document is not held or is absent. */
  model(id: DocId): PieceModel | undefined {
    const key = pieceKey(id);
    const document = this.#read(key);
    if (document === undefined) return undefined;
    const known = this.#models.get(id);
    if (known?.document === document) return known;
    const pattern = this.#patternOf(document);
    const built = this.#build(id, pattern, known);
    const model: PieceModel = { id, key, document, pattern, built };
    this.#models.set(id, model);
    return model;
  }

  /** The link of a piece's node by the name that the result or the piece itself gives it. */
  link(id: DocId, name: string): Link | undefined {
    const model = this.model(id);
    if (model === undefined) return undefined;
    for (const part of ["result", "internal"]) {
      const named = isJsonObject(model.document) ? getOwn(model.document, part) : undefined;
      const link = isJsonObject(named) ? asLink(getOwn(named, name) ?? null) : undefined;
      if (link !== undefined) return link;
    }
    const node = model.built?.nodes.get(name);
    return node === undefined ? undefined : nodeLink(node);
  }

  /** The node of a document, in any piece read so far. */
  nodeOf(pieceId: DocId, id: DocId): PieceNode | undefined {
    for (const node of this.model(pieceId)?.built?.nodes.values() ?? [])
      if (node.id === id) return node;
    return undefined;
  }

  #patternOf(document: JsonValue): Pattern | undefined {
    const ref = patternRef(document);
    return ref === undefined ? undefined : this.#registry.find(ref.id, ref.version);
  }

  #build(
    id: DocId,
    pattern: Pattern | undefined,
    known: PieceModel | undefined,
  ): BuiltPattern | undefined {
    if (pattern === undefined) return undefined;
    return known?.pattern === pattern ? known.built : pattern.instantiate({ pieceId: id });
  }
}
