import {
  applyOperation,
  getAt,
  isJsonObject,
  setOwn,
  type JsonValue,
  type MergingOp,
  type MutableJsonObject,
  type PatchOp,
  type Path,
  type ValueOperation,
} from "@tidemark/protocol";
import type { MergeRequest } from "../cell/access.js";
import type { NodeRef } from "../cell/node-ref.js";
import { orElse } from "../cell/reading.js";

type Current = JsonValue | undefined;

/**
 * Sets the value at a path. `replace` writes a key under an existing container (R24); where part of
 * the way is missing, the operation writes the whole of what is missing, and so rests on its absence:
 * `missing` is told the path, for the read log.
 */
export function overwriteAt(
  end: NodeRef,
  current: Current,
  value: JsonValue,
  missing: (path: Path) => void,
): ValueOperation {
  const { path } = end;
  if (current === undefined) {
    missing([]);
    return { op: "set", value: placed(end.initial, path, value) };
  }
  const depth = missingDepth(current, path);
  if (depth === undefined) return patch({ op: "replace", path, value });
  const top = path.slice(0, depth);
  missing(top);
  return patch({ op: "replace", path: top, value: nested(path.slice(depth), value) });
}

/** A merging operation; on a document never written it starts from the declared default (R24). */
export function mergeOperation(
  end: NodeRef,
  request: MergeRequest,
  checked: (value: unknown) => JsonValue,
): ValueOperation {
  const { path, initial } = end;
  const common = initial === undefined ? { path } : { path, ifAbsent: initial };
  return patch(mergingOp(request, common, checked));
}

function mergingOp(
  request: MergeRequest,
  common: { readonly path: Path; readonly ifAbsent?: JsonValue },
  checked: (value: unknown) => JsonValue,
): MergingOp {
  switch (request.op) {
    case "append":
    case "addUnique":
      return { op: request.op, ...common, value: checked(request.value) };
    case "increment":
      return { op: "increment", ...common, value: checked(request.value) as number };
    case "splice": {
      const { index, remove } = request;
      const insert = checked(request.insert) as string | readonly JsonValue[];
      return { op: "splice", ...common, index, remove, insert };
    }
  }
}

/** Takes the part at a path out; nothing to do where nothing is there. */
export function removalAt(end: NodeRef, current: Current): ValueOperation | undefined {
  const { path } = end;
  const document = orElse(current, end.initial);
  if (document === undefined || getAt(document, path) === undefined) return undefined;
  return onDocument(current, document, { op: "remove", path });
}

/** Takes every equal element out of the list at a path. */
export function removalOfValue(
  end: NodeRef,
  current: Current,
  value: JsonValue,
): ValueOperation | undefined {
  const { path } = end;
  const document = orElse(current, end.initial);
  if (document === undefined || getAt(document, path) === undefined) return undefined;
  return onDocument(current, document, { op: "remove", path, value });
}

/** An operation that starts from the default writes the document; otherwise it is a patch. */
function onDocument(current: Current, document: JsonValue, op: PatchOp): ValueOperation {
  if (current !== undefined) return patch(op);
  const value = applyOperation(document, patch(op));
  return value === undefined ? { op: "delete" } : { op: "set", value };
}

function patch(op: PatchOp): ValueOperation {
  return { op: "patch", value: [op] };
}

/** The length of the shortest prefix at which nothing stands, if the way to the parent is broken. */
function missingDepth(document: JsonValue, path: Path): number | undefined {
  for (let depth = 1; depth < path.length; depth += 1) {
    if (getAt(document, path.slice(0, depth)) === undefined) return depth;
  }
  return undefined;
}

/** The default with the value at the path, its way made where it is missing. */
function placed(initial: Current, path: Path, value: JsonValue): JsonValue {
  if (initial === undefined) return nested(path, value);
  const depth = missingDepth(initial, path) ?? path.length;
  const op: PatchOp = {
    op: "replace",
    path: path.slice(0, depth),
    value: nested(path.slice(depth), value),
  };
  return applyOperation(initial, patch(op)) as JsonValue;
}

/** Containers around a value: an object per key, a list per index 0. */
function nested(path: Path, value: JsonValue): JsonValue {
  return path.reduceRight<JsonValue>((inner, step) => {
    if (typeof step === "number") return [inner];
    const object: MutableJsonObject = {};
    setOwn(object, step, inner);
    return object;
  }, value);
}

/** Whether an own key named `__proto__` stands in the value: immer throws where one is set (R38). */
export function hasProtoKey(value: Current): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!isJsonObject(value)) return (value as readonly JsonValue[]).some(hasProtoKey);
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoKey);
}
