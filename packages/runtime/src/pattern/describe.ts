import {
  setOwn,
  toLinkValue,
  type DocId,
  type JsonValue,
  type Link,
  type MutableJsonObject,
  type ScopeKind,
  type Selector,
} from "@tidemark/protocol";
import { z, type ZodType } from "zod";
import { REF } from "../cell/types.js";
import type { BuiltInName } from "../effect/built-in.js";
import { completeArgument } from "./argument.js";
import type { PieceNode } from "./build-scope.js";
import type { BuiltPattern, Pattern } from "./pattern.js";

/** The value of a piece's document (R20). */
export type PieceValue = {
  readonly pattern: { readonly id: string; readonly version: string };
  readonly argument: JsonValue;
  /** The pattern's result: name to link. */
  readonly result: { readonly [name: string]: JsonValue };
  /** The nodes that the result does not show. */
  readonly internal: { readonly [name: string]: JsonValue };
};

/**
 * The document of a new piece, whole, as its creator writes it: the argument with its defaults, and a
 * link to every node, so that whoever holds the document finds them without the pattern.
 *
 * @throws ProtocolError for an argument that does not fit the pattern's schema.
 */
export function describePiece(pattern: Pattern, argument: unknown, pieceId: DocId): PieceValue {
  const built = pattern.instantiate({ pieceId });
  const result: MutableJsonObject = {};
  const shown = new Set<DocId>();
  for (const [name, handle] of built.result) {
    setOwn(result, name, toLinkValue(handle.link));
    if (handle[REF].path.length === 0) shown.add(handle[REF].id);
  }
  const internal: MutableJsonObject = {};
  for (const node of built.nodes.values()) {
    if (!shown.has(node.id)) setOwn(internal, node.name, toLinkValue(nodeLink(node)));
  }
  return {
    pattern: { id: pattern.id, version: pattern.version },
    argument: completeArgument(pattern.argument, argument),
    result,
    internal,
  };
}

/** The link to a node's document. */
export function nodeLink(node: PieceNode): Link {
  const scope: ScopeKind = node.kind === "cell" ? node.scope : "space";
  return scope === "space" ? { id: node.id } : { id: node.id, scope };
}

/** One node of a pattern, for editors and inspectors. */
export interface NodeDescription {
  readonly name: string;
  readonly kind: PieceNode["kind"];
  /** Built-in of an effectful node. */
  readonly builtIn?: BuiltInName;
  /** Kind of the list. */
  readonly form?: "map" | "filter" | "flatMap";
  readonly scope: ScopeKind;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of the value, or of a handler's payload. */
  readonly schema?: unknown;
  /** What it reads as before it is written. */
  readonly default?: JsonValue;
  /** Names under which the pattern's result shows it. */
  readonly shownAs: readonly string[];
}

/** The nodes of a pattern in the order they are declared. */
export function listNodes(pattern: Pattern): readonly NodeDescription[] {
  const built = pattern.instantiate({ pieceId: "piece:described" as DocId });
  return [...built.nodes.values()].map((node) => describeNode(node, built));
}

function describeNode(node: PieceNode, built: BuiltPattern): NodeDescription {
  const shownAs = [...built.result]
    .filter(([, handle]) => handle[REF].id === node.id && handle[REF].path.length === 0)
    .map(([name]) => name);
  return {
    name: node.name,
    kind: node.kind,
    scope: node.kind === "cell" ? node.scope : "space",
    shownAs,
    ...(node.kind === "effect" ? { builtIn: node.builtIn } : {}),
    ...(node.kind === "list" ? { form: node.form } : {}),
    ...(node.kind === "cell" && node.initial !== undefined ? { default: node.initial } : {}),
    ...(node.title === undefined ? {} : { title: node.title }),
    ...(node.description === undefined ? {} : { description: node.description }),
    ...(node.schema === undefined ? {} : { schema: jsonSchemaOf(node.schema, node.kind) }),
  };
}

/** What zod cannot put into JSON Schema (a transform, a custom check) is left open. */
function jsonSchemaOf(schema: ZodType, kind: PieceNode["kind"]): unknown {
  const io = kind === "handler" ? "input" : "output";
  return z.toJSONSchema(schema, { io, unrepresentable: "any" });
}

/**
 * The selector of a piece's document and of what its result shows, for a watch whose root is the
 * piece (R28). With names, of those alone. Values that hold links are followed.
 */
export function pieceSelector(pattern?: Pattern, names?: readonly string[]): Selector {
  const shown = names ?? (pattern === undefined ? undefined : resultNames(pattern));
  const followed: Selector = { kind: "follow", to: { kind: "any" } };
  if (shown === undefined) return { kind: "object", keys: { result: { kind: "any" } } };
  const keys: Record<string, Selector> = {};
  for (const name of shown) keys[name] = followed;
  return { kind: "object", keys: { result: { kind: "object", keys } } };
}

/** Streams are left out: a watcher follows its own entries, never everybody's payloads (R21). */
function resultNames(pattern: Pattern): readonly string[] {
  const built = pattern.instantiate({ pieceId: "piece:described" as DocId });
  return [...built.result]
    .filter(([, handle]) => !isStreamOf(built, handle[REF].id))
    .map(([name]) => name);
}

function isStreamOf(built: BuiltPattern, id: DocId): boolean {
  return [...built.nodes.values()].some((node) => node.kind === "handler" && node.id === id);
}
