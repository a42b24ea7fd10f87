import { asLink, getAt, instanceKey, resolveScopeKey, setOwn } from "@tidemark/protocol";
import type {
  Actor,
  InstanceKey,
  JsonValue,
  Link,
  MutableJsonObject,
  SpaceId,
} from "@tidemark/protocol";
import type { StateView } from "@tidemark/runtime";

/** A value with its links replaced by what they lead to. */
export type Resolved =
  | { readonly state: "value"; readonly value: JsonValue | undefined }
  | { readonly state: "pending" };

/** What resolving needs. */
export interface ResolveInput {
  readonly view: StateView;
  readonly actor: Actor;
  readonly space: SpaceId;
  /** What a document reads as while it is absent. */
  initial(key: InstanceKey): JsonValue | undefined;
  /** Told every instance that the value depends on. */
  track(key: InstanceKey): void;
}

/** Links in a row beyond which a chain is taken for a circle. */
const MAX_HOPS = 64;

/** Where links lead back to where they came from, or into another space, they stay links. */
export function resolveLink(input: ResolveInput, link: Link): Resolved {
  return follow(input, link, new Set());
}

function follow(input: ResolveInput, link: Link, on: ReadonlySet<InstanceKey>): Resolved {
  const key = instanceKey(link.id, resolveScopeKey(link.scope ?? "space", input.actor));
  input.track(key);
  const read = input.view.read(key);
  if (read.state !== "held") return { state: "pending" };
  // `null` is a value: only what is absent falls back.
  const document = read.value === undefined ? input.initial(key) : read.value;
  return descend(input, document, link.path ?? [], new Set(on).add(key));
}

/** Goes down a path, through links on the way. */
function descend(
  input: ResolveInput,
  value: JsonValue | undefined,
  path: readonly (string | number)[],
  on: ReadonlySet<InstanceKey>,
): Resolved {
  if (value === undefined) return { state: "value", value: undefined };
  const link = asLink(value);
  if (link !== undefined && path.length > 0) {
    return follow(input, { ...link, path: [...(link.path ?? []), ...path] }, on);
  }
  const [step, ...rest] = path;
  if (step === undefined) return deep(input, value, on);
  return descend(input, getAt(value, [step]), rest, on);
}

function deep(input: ResolveInput, value: JsonValue, on: ReadonlySet<InstanceKey>): Resolved {
  if (typeof value !== "object" || value === null) return { state: "value", value };
  const link = asLink(value);
  if (link !== undefined) return deepLink(input, value, link, on);
  return Array.isArray(value)
    ? deepList(input, value, on)
    : deepObject(input, value as Readonly<Record<string, JsonValue>>, on);
}

function deepLink(
  input: ResolveInput,
  value: JsonValue,
  link: Link,
  on: ReadonlySet<InstanceKey>,
): Resolved {
  const foreign = link.space !== undefined && link.space !== input.space;
  const key = instanceKey(link.id, resolveScopeKey(link.scope ?? "space", input.actor));
  if (foreign || on.has(key) || on.size > MAX_HOPS) return { state: "value", value };
  return follow(input, link, on);
}

function deepList(
  input: ResolveInput,
  list: readonly JsonValue[],
  on: ReadonlySet<InstanceKey>,
): Resolved {
  let changed = false;
  const next: JsonValue[] = [];
  for (const item of list) {
    const resolved = deep(input, item, on);
    if (resolved.state === "pending") return resolved;
    changed ||= resolved.value !== item;
    next.push(resolved.value ?? null);
  }
  return { state: "value", value: changed ? next : list };
}

function deepObject(
  input: ResolveInput,
  object: Readonly<Record<string, JsonValue>>,
  on: ReadonlySet<InstanceKey>,
): Resolved {
  let changed = false;
  const next: MutableJsonObject = {};
  for (const [name, item] of Object.entries(object)) {
    const resolved = deep(input, item, on);
    if (resolved.state === "pending") return resolved;
    changed ||= resolved.value !== item;
    if (resolved.value !== undefined) setOwn(next, name, resolved.value);
  }
  return { state: "value", value: changed ? next : object };
}
