import type { DocId, SpaceId } from "../ids/ids.js";
import { childOf } from "../json/get-at.js";
import type { JsonValue, Path } from "../json/json-value.js";
import { asLink, type Link } from "../link/link.js";
import {
  type Actor,
  type InstanceKey,
  SCOPE_KINDS,
  type ScopeKey,
  type ScopeKind,
  instanceKey,
  resolveScopeKey,
  scopeKindOf,
} from "../scope/scope.js";
import type { Selector } from "./selector.js";

/** Bounds of one walk. */
export interface WalkLimits {
  /** Instances met. */
  readonly maxInstances: number;
  /** Links in a row from the root. */
  readonly maxHops: number;
  /** Values visited. */
  readonly maxSteps: number;
}

/** The default bounds. */
export const WALK_LIMITS: WalkLimits = { maxInstances: 10_000, maxHops: 64, maxSteps: 1_000_000 };

/** What a walk needs of its surroundings. Both callbacks are synchronous. */
export interface WalkInput {
  readonly root: { readonly id: DocId; readonly scope?: ScopeKind; readonly path?: Path };
  readonly selector: Selector;
  /** Who is watching: scoped links lead to its instances, and to nobody else's. */
  readonly actor: Actor;
  /** The space walked in. A link that names another one is not followed. */
  readonly space?: SpaceId;
  /** What is held of an instance; a `value` of `undefined` is absent; `undefined` is not held. */
  read(key: InstanceKey): { readonly value: JsonValue | undefined } | undefined;
  /** Called once for each instance met, absent and unheld ones included, root first. */
  track(key: InstanceKey): void;
}

/** How a walk ended. */
export interface WalkResult {
  /** Number of instances tracked. */
  readonly instances: number;
  /** The bound that cut the walk, if one did: what lies beyond it was not met. */
  readonly truncated?: keyof WalkLimits;
}

/** A value to visit: inside `doc`, `rest` of the path still to go, then `selector`. */
interface Visit {
  readonly doc: DocId;
  readonly scopeKey: ScopeKey;
  readonly at: Path;
  readonly value: JsonValue | undefined;
  readonly rest: Path;
  readonly selector: Selector;
  readonly hops: number;
}

/**
 * The one walk of selectors, the same on server and client: visits what the selector reaches from the
 * root and tracks every instance met (protocol.md §4). Pure but for the callbacks. Terminates on any
 * graph: an instance is visited once per path and selector node.
 *
 * - A link's scope resolves against the actor; where there is no acting user or session for it, the
 *   branch ends.
 * - A link with a path continues at that path of its target, through links on the way.
 * - A redirect (the root value of an instance that links to the same document in a narrower scope,
 *   scopes.md "Lattice and discovery") is followed whatever the selector.
 */
export function walkSelector(input: WalkInput, limits: WalkLimits = WALK_LIMITS): WalkResult {
  return new Walk(input, limits).run();
}

class Walk {
  readonly #input: WalkInput;
  readonly #limits: WalkLimits;
  readonly #tracked = new Set<InstanceKey>();
  /** Per selector node: the places it was applied to. */
  readonly #seen = new Map<Selector, Set<string>>();
  readonly #stack: Visit[] = [];
  #truncated: keyof WalkLimits | undefined;

  constructor(input: WalkInput, limits: WalkLimits) {
    this.#input = input;
    this.#limits = limits;
  }

  run(): WalkResult {
    const { root, selector } = this.#input;
    this.#enter(root.id, root.scope, root.path ?? [], selector, 0);
    let steps = 0;
    for (let visit = this.#stack.pop(); visit !== undefined; visit = this.#stack.pop()) {
      steps += 1;
      if (steps > this.#limits.maxSteps) {
        this.#truncated ??= "maxSteps";
        break;
      }
      this.#visit(visit);
    }
    const instances = this.#tracked.size;
    return this.#truncated === undefined
      ? { instances }
      : { instances, truncated: this.#truncated };
  }

  /** Goes to an instance: tracks it, and visits its value. */
  #enter(
    id: DocId,
    scope: ScopeKind | undefined,
    path: Path,
    selector: Selector,
    hops: number,
  ): void {
    const scopeKey = this.#resolve(scope ?? "space");
    if (scopeKey === undefined) return;
    const key = instanceKey(id, scopeKey);
    if (!this.#mark(selector, `${key} ${JSON.stringify(path)}`)) return;
    if (!this.#track(key, hops)) return;
    const value = this.#input.read(key)?.value;
    this.#stack.push({ doc: id, scopeKey, at: [], value, rest: path, selector, hops });
  }

  #resolve(kind: ScopeKind): ScopeKey | undefined {
    const { actor } = this.#input;
    if (kind !== "space" && actor.user === undefined) return undefined;
    const sessionless = actor.session === undefined || actor.session === "server";
    if (kind === "session" && sessionless) return undefined;
    return resolveScopeKey(kind, actor);
  }

  #track(key: InstanceKey, hops: number): boolean {
    if (hops > this.#limits.maxHops) {
      this.#truncated ??= "maxHops";
      return false;
    }
    if (this.#tracked.has(key)) return true;
    if (this.#tracked.size >= this.#limits.maxInstances) {
      this.#truncated ??= "maxInstances";
      return false;
    }
    this.#tracked.add(key);
    this.#input.track(key);
    return true;
  }

  /** Whether this selector node has not been applied at this place yet. */
  #mark(selector: Selector, place: string): boolean {
    const places = this.#seen.get(selector);
    if (places === undefined) {
      this.#seen.set(selector, new Set([place]));
      return true;
    }
    if (places.has(place)) return false;
    places.add(place);
    return true;
  }

  #visit(visit: Visit): void {
    const { value, rest, selector } = visit;
    if (value === undefined) return;
    const link = asLink(value);
    if (link !== undefined && isRedirect(link, visit)) {
      this.#follow(link, rest, selector, visit.hops);
    } else if (rest.length > 0) {
      this.#step(visit, link);
    } else {
      this.#apply(visit, link);
    }
  }

  /** One step along the path still to go; a link on the way is gone through. */
  #step(visit: Visit, link: Link | undefined): void {
    const { value, rest, selector, hops } = visit;
    if (link !== undefined) {
      this.#follow(link, rest, selector, hops);
      return;
    }
    const [key, ...further] = rest;
    const next = value === undefined ? undefined : childOf(value, key);
    if (key !== undefined) this.#push(visit, key, next, selector, further);
  }

  #apply(visit: Visit, link: Link | undefined): void {
    const { value, selector, hops } = visit;
    switch (selector.kind) {
      case "value":
        return;
      case "follow":
        // A chain of links is gone through to its end: `to` is about what they lead to.
        if (link !== undefined) this.#follow(link, [], selector, hops);
        else this.#stack.push({ ...visit, selector: selector.to });
        return;
      case "any":
        if (link !== undefined) this.#follow(link, [], selector, hops);
        else this.#each(visit, (_key) => selector);
        return;
      case "list":
        if (Array.isArray(value)) this.#each(visit, (_key) => selector.items);
        return;
      case "object":
        if (link === undefined && !Array.isArray(value)) {
          this.#each(visit, (key) => partFor(selector, String(key)));
        }
    }
  }

  #follow(link: Link, rest: Path, selector: Selector, hops: number): void {
    const { space } = this.#input;
    if (link.space !== undefined && link.space !== space) return;
    this.#enter(link.id, link.scope, [...(link.path ?? []), ...rest], selector, hops + 1);
  }

  #each(visit: Visit, selectorOf: (key: string | number) => Selector | undefined): void {
    const { value } = visit;
    if (typeof value !== "object" || value === null) return;
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    // The stack is last in, first out: pushed backwards, the first key is visited first.
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index];
      const selector = key === undefined ? undefined : selectorOf(key);
      if (key !== undefined && selector !== undefined)
        this.#push(visit, key, childOf(value, key), selector, []);
    }
  }

  #push(
    from: Visit,
    key: string | number,
    value: JsonValue | undefined,
    selector: Selector,
    rest: Path,
  ): void {
    // Only containers can hold a link; a plain scalar is no work.
    if (typeof value !== "object" || value === null) return;
    this.#stack.push({ ...from, at: [...from.at, key], value, rest, selector });
  }
}

function partFor(selector: Selector & { kind: "object" }, key: string): Selector | undefined {
  return Object.hasOwn(selector.keys, key) ? selector.keys[key] : selector.rest;
}

function isRedirect(link: Link, at: Visit): boolean {
  if (at.at.length > 0 || link.id !== at.doc || (link.path?.length ?? 0) > 0) return false;
  const stands = SCOPE_KINDS.indexOf(scopeKindOf(at.scopeKey));
  return SCOPE_KINDS.indexOf(link.scope ?? "space") > stands;
}
