import {
  asLink,
  getAt,
  isJsonArray,
  isJsonObject,
  ResolutionError,
  setOwn,
  type JsonValue,
  type Link,
  type MutableJsonObject,
  type Path,
} from "@tidemark/protocol";
import type { NodeRef } from "./node-ref.js";

/** Links in a row before a chain is taken for a circle. */
const MAX_HOPS = 32;

/** Reads a document; where the document is absent, its declared default. */
export interface DocumentReader {
  /** The whole value; nothing is logged. */
  document(ref: NodeRef): JsonValue | undefined;
  /** What the document reads as while it is absent. */
  initial(ref: NodeRef): JsonValue | undefined;
  /** Called for each path that the result rests on. */
  log(ref: NodeRef, path: Path, kind: "value" | "shape"): void;
}

/** Where a path really ends, after the links on its way. */
export interface Place {
  readonly ref: NodeRef;
  readonly value: JsonValue | undefined;
}

/**
 * Walks to the end of a path through the links on its way. A link at the very end is followed only
 * with `through`. Every link crossed is logged, the end is not: the caller says how it reads it.
 *
 * @throws ResolutionError where links lead round in a circle.
 */
export function locate(reader: DocumentReader, start: NodeRef, through: boolean): Place {
  let ref = start;
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const document = orElse(reader.document(ref), reader.initial(ref));
    const found = firstLink(document, ref.path, through);
    if (found === undefined) {
      const value = document === undefined ? undefined : getAt(document, ref.path);
      return { ref, value: orElse(value, ref.fallback) };
    }
    reader.log(ref, found.prefix, "value");
    ref = refThrough(ref, found.link, ref.path.slice(found.prefix.length));
  }
  throw new ResolutionError(`${start.label} leads through more than ${MAX_HOPS} links`, {});
}

/** The value with every link in it replaced by what it leads to; a circle keeps its link. */
export function readThrough(reader: DocumentReader, start: NodeRef): JsonValue | undefined {
  return resolved(reader, start, new Set());
}

function resolved(
  reader: DocumentReader,
  start: NodeRef,
  open: ReadonlySet<string>,
): JsonValue | undefined {
  const { ref, value } = locate(reader, start, true);
  reader.log(ref, ref.path, "value");
  if (value === undefined || !holdsLink(value)) return value;
  const place = `${ref.space ?? ""} ${ref.scope} ${ref.id} ${JSON.stringify(ref.path)}`;
  const within = new Set(open).add(place);
  return replaceLinks(value, (link) => {
    const target = refThrough(ref, link, []);
    const at = `${target.space ?? ""} ${target.scope} ${target.id} ${JSON.stringify(target.path)}`;
    return within.has(at) ? undefined : (resolved(reader, target, within) ?? null);
  });
}

/** `null` is a value: only what is absent falls back. */
export function orElse(
  value: JsonValue | undefined,
  otherwise: JsonValue | undefined,
): JsonValue | undefined {
  return value === undefined ? otherwise : value;
}

function firstLink(
  document: JsonValue | undefined,
  path: Path,
  through: boolean,
): { readonly link: Link; readonly prefix: Path } | undefined {
  let value = document;
  const last = through ? path.length : path.length - 1;
  for (let at = 0; at <= last; at += 1) {
    if (value === undefined) return undefined;
    const link = asLink(value);
    if (link !== undefined) return { link, prefix: path.slice(0, at) };
    if (at < path.length) value = getAt(value, path.slice(at, at + 1));
  }
  return undefined;
}

/** The address behind a link; a link without a space stays in the space it was found in. */
export function refThrough(from: NodeRef, link: Link, rest: Path): NodeRef {
  const space = link.space ?? from.space;
  return {
    id: link.id,
    ...(space === undefined ? {} : { space }),
    scope: link.scope ?? "space",
    path: [...(link.path ?? []), ...rest],
    label: from.label,
    writable: true,
    owner: from.owner,
  };
}

/** Values are shared between reads, so that each is searched once. */
const linkful = new WeakMap<object, boolean>();

function holdsLink(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  const known = linkful.get(value);
  if (known !== undefined) return known;
  const children = isJsonArray(value) ? value : Object.values(value);
  const holds = asLink(value) !== undefined || children.some((child) => holdsLink(child));
  linkful.set(value, holds);
  return holds;
}

function replaceLinks(value: JsonValue, follow: (link: Link) => JsonValue | undefined): JsonValue {
  if (!holdsLink(value)) return value;
  const link = asLink(value);
  if (link !== undefined) return orElse(follow(link), value) as JsonValue;
  if (isJsonArray(value)) return value.map((item) => replaceLinks(item, follow));
  if (!isJsonObject(value)) return value;
  const copy: MutableJsonObject = {};
  for (const [key, child] of Object.entries(value)) setOwn(copy, key, replaceLinks(child, follow));
  return copy;
}
