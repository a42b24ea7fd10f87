import { asLink } from "@tidemark/protocol";
import type { JsonValue } from "@tidemark/protocol";
import { listNodes, type Pattern } from "@tidemark/runtime";
import type { Meta } from "../meta/meta.js";
import { spoken } from "../form/schema.js";

/** A part of a piece as a page shows it. */
export interface NodeView {
  readonly name: string;
  readonly kind: "cell" | "computed" | "list" | "effect" | "sender" | "handler";
  readonly title: string;
  readonly description: string | undefined;
  readonly schema: unknown;
  /** What a cell reads as before it is written. */
  readonly initial: unknown;
}

/**
 * The parts of a piece: from the pattern where this page has its module, else from what the server says of it, else
 * from nothing but the links of the piece's document.
 */
export function nodesOf(
  document: JsonValue | undefined,
  pattern: Pattern | undefined,
  meta: Meta | undefined,
): readonly NodeView[] {
  if (pattern !== undefined) return listNodes(pattern).map(viewOf);
  const ref = (document as { readonly pattern?: { id?: string; version?: string } } | undefined)
    ?.pattern;
  const told = meta?.patterns.find(({ id, version }) => id === ref?.id && version === ref?.version);
  return told === undefined ? linkedNodes(document) : told.nodes.map(viewOf);
}

interface Described {
  readonly name: string;
  readonly kind: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly schema?: unknown;
  readonly default?: unknown;
}

function viewOf(node: Described): NodeView {
  return {
    name: node.name,
    kind: node.kind as NodeView["kind"],
    title: node.title ?? spoken(node.name),
    description: node.description,
    schema: node.schema,
    initial: node.default,
  };
}

function linkedNodes(document: JsonValue | undefined): readonly NodeView[] {
  const parts = (document ?? {}) as { readonly result?: JsonValue; readonly internal?: JsonValue };
  return Object.entries({ ...objectOf(parts.internal), ...objectOf(parts.result) }).flatMap(
    ([name, value]) => {
      const link = asLink(value);
      if (link === undefined) return [];
      const kind = link.id.startsWith("stream:") ? "handler" : "cell";
      // Of a stream that nobody describes it is not known what it takes: anything, as JSON.
      return [viewOf({ name, kind, schema: kind === "handler" ? { anyOf: [] } : undefined })];
    },
  );
}

function objectOf(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, JsonValue>>)
    : {};
}
