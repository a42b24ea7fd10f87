import type { GateName, GatePoint, Gates } from "../seams/gates.js";

/** Which arrivals at a gate a rule is about, and how many. */
export interface GateRuleOptions {
  /** Only arrivals in this space. */
  readonly space?: string;
  /** Only operations that this event owns. */
  readonly event?: string;
  /** How many arrivals; default 1. */
  readonly times?: number;
}

interface Rule extends GateRuleOptions {
  readonly name: GateName;
  readonly act: (at: GatePoint) => Promise<void> | undefined;
  left: number;
}

interface Waiter {
  readonly name: GateName;
  readonly at: GatePoint;
  readonly go: () => void;
}

interface Watcher {
  readonly name: GateName;
  readonly space: string | undefined;
  readonly tell: () => void;
}

/**
 * Gates that a test holds, fails or crashes at (FORMAT.md, "Gates"). Rules are taken in the order in
 * which they were set; an arrival that no rule is about passes on at once.
 */
export class TestGates implements Gates {
  readonly #rules: Rule[] = [];
  readonly #waiting: Waiter[] = [];
  readonly #watchers: Watcher[] = [];
  readonly #arrivals = new Map<GateName, number>();

  pass(name: GateName, at: GatePoint): Promise<void> | undefined {
    this.#arrivals.set(name, this.arrivals(name) + 1);
    const index = this.#rules.findIndex((rule) => rule.name === name && isAbout(rule, at));
    const rule = this.#rules[index];
    if (rule === undefined) return undefined;
    rule.left -= 1;
    if (rule.left <= 0) this.#rules.splice(index, 1);
    return rule.act(at);
  }

  /** Stops the next `times` arrivals; each {@link release} lets one go. */
  hold(name: GateName, options: GateRuleOptions = {}): void {
    this.#add(name, options, (at) => this.#wait(name, at));
  }

  /** The next `times` arrivals fail with the error; a function makes a fresh one for each. */
  fail(name: GateName, error: Error | (() => Error), options: GateRuleOptions = {}): void {
    this.#add(name, options, () => Promise.reject(typeof error === "function" ? error() : error));
  }

  /** At the next arrival `crash` is called, and the arrival never gets past the gate. */
  crashAt(name: GateName, crash: () => void, options: GateRuleOptions = {}): void {
    this.#add(name, options, () => {
      crash();
      return new Promise(() => undefined);
    });
  }

  /** Lets the longest waiting arrival go. Returns whether one waited. */
  release(name: GateName, space?: string): boolean {
    const index = this.#waiting.findIndex((waiter) => isAt(waiter, name, space));
    const [waiter] = index === -1 ? [] : this.#waiting.splice(index, 1);
    waiter?.go();
    return waiter !== undefined;
  }

  /** Resolves once an arrival waits at the gate; at once if one does already. */
  reached(name: GateName, space?: string): Promise<void> {
    if (this.waiting(name, space) > 0) return Promise.resolve();
    return new Promise((tell) => this.#watchers.push({ name, space, tell }));
  }

  /** Number of arrivals that wait at the gate. */
  waiting(name: GateName, space?: string): number {
    return this.#waiting.filter((waiter) => isAt(waiter, name, space)).length;
  }

  /** Number of arrivals at the gate so far, passed on or not. */
  arrivals(name: GateName): number {
    return this.#arrivals.get(name) ?? 0;
  }

  /** Forgets every rule and lets every waiter go. */
  open(): void {
    this.#rules.length = 0;
    for (const waiter of this.#waiting.splice(0)) waiter.go();
  }

  #add(name: GateName, options: GateRuleOptions, act: Rule["act"]): void {
    this.#rules.push({ ...options, name, act, left: options.times ?? 1 });
  }

  #wait(name: GateName, at: GatePoint): Promise<void> {
    const held = new Promise<void>((go) => this.#waiting.push({ name, at, go }));
    const told = this.#watchers.filter((watcher) =>
      isAt({ name, at }, watcher.name, watcher.space),
    );
    for (const watcher of told) {
      this.#watchers.splice(this.#watchers.indexOf(watcher), 1);
      watcher.tell();
    }
    return held;
  }
}

function isAbout(rule: GateRuleOptions, at: GatePoint): boolean {
  if (rule.space !== undefined && rule.space !== at.space) return false;
  return rule.event === undefined || rule.event === at.event;
}

function isAt(
  waiter: Pick<Waiter, "name" | "at">,
  name: GateName,
  space: string | undefined,
): boolean {
  return waiter.name === name && (space === undefined || waiter.at.space === space);
}
