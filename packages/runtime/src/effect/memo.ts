import {
  asLink,
  contentHash,
  isJsonArray,
  isJsonObject,
  setOwn,
  toLinkValue,
  type InstanceKey,
  type JsonValue,
  type Link,
  type MutableJsonObject,
  type SpaceId,
} from "@tidemark/protocol";
import type { BuiltInName } from "./built-in.js";

/** What a memo key is made of. */
export interface MemoInput {
  readonly builtIn: BuiltInName;
  /** Resolved: cells dereferenced, defaults filled in. */
  readonly request: JsonValue;
  /** The instance of the result document: two targets are two requests. */
  readonly target: InstanceKey;
  /** The space of the node: a link that names it is the link that does not. */
  readonly space: SpaceId;
}

/**
 * The memo key of a request (seed 001 §4): the same for the same built-in, request and result
 * instance, in whatever order keys were written and however a link was spelt.
 */
export function memoKey({ builtIn, request, target, space }: MemoInput): string {
  return contentHash({ builtIn, request: canonical(request, space), target });
}

function canonical(value: JsonValue, space: SpaceId): JsonValue {
  const link = asLink(value);
  if (link !== undefined) return toLinkValue(spelt(link, space));
  if (isJsonArray(value)) return value.map((item) => canonical(item, space));
  if (!isJsonObject(value)) return value;
  const copy: MutableJsonObject = {};
  for (const [key, child] of Object.entries(value)) setOwn(copy, key, canonical(child, space));
  return copy;
}

/** By entity and path, with what is a default left out. */
function spelt(link: Link, space: SpaceId): Link {
  return {
    id: link.id,
    ...(link.path === undefined || link.path.length === 0 ? {} : { path: link.path }),
    ...(link.space === undefined || link.space === space ? {} : { space: link.space }),
    ...(link.scope === undefined || link.scope === "space" ? {} : { scope: link.scope }),
  };
}
