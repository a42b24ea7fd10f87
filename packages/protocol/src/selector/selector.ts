import { z } from "zod";
import { DocIdSchema, ScopeKindSchema, TextSchema } from "../commit/field-schemas.js";
import type { DocId } from "../ids/ids.js";
import type { ScopeKind } from "../scope/scope.js";

/**
 * What of a value, and of what its links reach, a session watches (R28): a closed JSON type, generated
 * from a pattern's result.
 *
 * - `value`: this value as it stands; links in it are not followed.
 * - `follow`: through the link that stands here, then `to` on what it leads to.
 * - `object`: the named keys, each with its own selector; `rest` for every other key.
 * - `list`: every element.
 * - `any`: every link met, transitively, bounded by the walk's limits.
 */
export type Selector =
  | { readonly kind: "value" }
  | { readonly kind: "follow"; readonly to: Selector }
  | {
      readonly kind: "object";
      readonly keys: Readonly<Record<string, Selector>>;
      readonly rest?: Selector;
    }
  | { readonly kind: "list"; readonly items: Selector }
  | { readonly kind: "any" };

/** One thing a session watches: a root and a selector, or every piece of the space. */
export interface Watch {
  /** The session's own name for it. */
  readonly id: string;
  readonly root?: { readonly id: DocId; readonly scope?: ScopeKind };
  /** Default `{kind: "value"}`: the root document alone (seed 001 §1). */
  readonly selector?: Selector;
  /** Every `piece:` document of the space. */
  readonly pieces?: true;
}

/** Bounds of a selector on the wire. */
export interface SelectorLimits {
  readonly maxDepth: number;
  readonly maxNodes: number;
}

/** The default bounds. */
export const SELECTOR_LIMITS: SelectorLimits = { maxDepth: 32, maxNodes: 1024 };

/** What is wrong with a selector, and where. */
export interface SelectorProblem {
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

/** Fields of each kind: those it must have and those it may have. */
const FIELDS: Readonly<
  Record<Selector["kind"], { must: readonly string[]; may: readonly string[] }>
> = {
  value: { must: [], may: [] },
  follow: { must: ["to"], may: [] },
  object: { must: ["keys"], may: ["rest"] },
  list: { must: ["items"], may: [] },
  any: { must: [], may: [] },
};

type Plain = Readonly<Record<string, unknown>>;
type Place = readonly [value: unknown, path: readonly (string | number)[], depth: number];

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: Plain): Selector["kind"] | undefined {
  const kind = Object.hasOwn(value, "kind") ? value["kind"] : undefined;
  return typeof kind === "string" && Object.hasOwn(FIELDS, kind)
    ? (kind as Selector["kind"])
    : undefined;
}

/** The parts of a node that are selectors themselves; a string is what is wrong with the node. */
function partsOf([value, path, depth]: Place): readonly Place[] | string {
  if (!isPlain(value)) return "a selector is an object";
  const kind = kindOf(value);
  if (kind === undefined) return "unknown kind of selector";
  const { must, may } = FIELDS[kind];
  for (const key of Object.keys(value)) {
    if (key !== "kind" && !must.includes(key) && !may.includes(key)) return `unknown key "${key}"`;
  }
  const missing = must.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `"${missing}" is missing`;
  const parts: Place[] = [];
  for (const key of ["to", "items", "rest"]) {
    if (Object.hasOwn(value, key)) parts.push([value[key], [...path, key], depth + 1]);
  }
  if (kind !== "object") return parts;
  const keys = value["keys"];
  if (!isPlain(keys)) return `"keys" is an object of selectors`;
  for (const [key, part] of Object.entries(keys)) {
    parts.push([part, [...path, "keys", key], depth + 1]);
  }
  return parts;
}

/**
 * Finds what is wrong with a selector, if anything is. Walks with a stack of its own and by hand: the
 * input may be hostile in depth, and zod's records drop a key named `__proto__`.
 */
export function selectorProblem(
  value: unknown,
  limits: SelectorLimits = SELECTOR_LIMITS,
): SelectorProblem | undefined {
  const stack: Place[] = [[value, [], 1]];
  let nodes = 0;
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const [, path, depth] = place;
    nodes += 1;
    if (depth > limits.maxDepth) return { path, reason: `deeper than ${limits.maxDepth}` };
    if (nodes > limits.maxNodes) return { path, reason: `more than ${limits.maxNodes} nodes` };
    const parts = partsOf(place);
    if (typeof parts === "string") return { path, reason: parts };
    // One by one: a hostile number of them does not fit into a call's arguments.
    for (const part of parts) stack.push(part);
  }
  return undefined;
}

/** See {@link Selector}. Bounded by {@link SELECTOR_LIMITS}. */
export const SelectorSchema: z.ZodType<Selector> = z
  .unknown()
  .transform((value, context): Selector => {
    const problem = selectorProblem(value);
    if (problem === undefined) return value as Selector;
    const { path, reason } = problem;
    context.issues.push({ code: "custom", message: reason, input: value, path: [...path] });
    return z.NEVER;
  })
  // The grammar, so that the wire version's hash changes with it.
  .meta({ title: "selector", description: JSON.stringify({ ...FIELDS, limits: SELECTOR_LIMITS }) });

/** See {@link Watch}. A watch names a root or asks for the pieces, and not both. */
export const WatchSchema: z.ZodType<Watch> = z
  .strictObject({
    id: TextSchema.min(1).max(256),
    root: z
      .strictObject({ id: DocIdSchema, scope: ScopeKindSchema.exactOptional() })
      .exactOptional(),
    selector: SelectorSchema.exactOptional(),
    pieces: z.literal(true).exactOptional(),
  })
  .refine((watch) => (watch.root === undefined) !== (watch.pieces === undefined), {
    error: "a watch has a root, or is of the pieces",
  });
