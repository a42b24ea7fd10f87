import { isDocId, isSpaceId } from "../ids/ids.js";
import type { DocId, SpaceId } from "../ids/ids.js";
import { isJsonArray, isJsonObject } from "../json/own.js";
import type { JsonObject, JsonValue, Path } from "../json/json-value.js";
import { isScopeKind } from "../scope/scope.js";
import type { ScopeKind } from "../scope/scope.js";

/** A reference to a document, or to a place inside it. No space means the one it is stored in. */
export interface Link {
  readonly id: DocId;
  readonly path?: Path;
  readonly space?: SpaceId;
  readonly scope?: ScopeKind;
}

const FIELDS: ReadonlySet<string> = new Set(["id", "path", "space", "scope"]);

/** The stored form: `{"/": {"link@1": {id, path?, space?, scope?}}}`. */
export function toLinkValue(link: Link): JsonValue {
  const inner: Record<string, JsonValue> = { id: link.id };
  if (link.path !== undefined && link.path.length > 0) inner["path"] = link.path;
  if (link.space !== undefined) inner["space"] = link.space;
  if (link.scope !== undefined) inner["scope"] = link.scope;
  return { "/": { "link@1": inner } };
}

/**
 * The link that a stored value is, undefined for any other value: an object with a further key, an
 * unknown field or a malformed id is plain data. Never throws.
 */
export function asLink(value: JsonValue | undefined): Link | undefined {
  const outer = onlyEntry(value, "/");
  const inner = onlyEntry(outer, "link@1");
  return isJsonObject(inner) && isLinkBody(inner) ? (inner as unknown as Link) : undefined;
}

/** True for the stored form of a link. */
export function isLink(value: JsonValue | undefined): boolean {
  return asLink(value) !== undefined;
}

function onlyEntry(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
  for (const other in value) {
    if (other !== key) return undefined;
  }
  return value[key];
}

function isLinkBody(body: JsonObject): boolean {
  for (const key in body) {
    if (!FIELDS.has(key)) return false;
  }
  if (!Object.hasOwn(body, "id") || !isDocId(body["id"])) return false;
  if (Object.hasOwn(body, "path") && !isPath(body["path"])) return false;
  if (Object.hasOwn(body, "space") && !isSpaceId(body["space"])) return false;
  return !Object.hasOwn(body, "scope") || isScopeKind(body["scope"]);
}

function isPath(value: JsonValue | undefined): boolean {
  if (!isJsonArray(value)) return false;
  return value.every((s) => typeof s === "string" || (Number.isSafeInteger(s) && Number(s) >= 0));
}
