import { algorithm, dropUnread, type GraphNode, type GraphState } from "./graph-state.js";
import { DIRTY, MUTABLE, PENDING, RUNNING, STALE, type Link } from "./node.js";

const { propagate, shallowPropagate, checkDirty } = algorithm;

/**
 * A source or, with `compute`, a computed. One class for both: the algorithm's innermost loops then meet few shapes of
 * object, which is most of their speed.
 */
export class ValueNode<T> implements GraphNode {
  flags: number;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  subsTail: Link | undefined = undefined;
  readonly name: string;
  /** The value; the error when `#failed`. */
  #value: T | undefined;
  /** What a source was set to and has not taken over yet. */
  #next: T | undefined;
  #failed = false;
  #filled: boolean;
  readonly #graph: GraphState;
  readonly #compute: (() => T) | undefined;
  readonly #equals: (a: T, b: T) => boolean;

  constructor(
    graph: GraphState,
    value: T | undefined,
    compute: (() => T) | undefined,
    equals: (a: T, b: T) => boolean,
    name: string,
  ) {
    this.flags = compute === undefined ? MUTABLE : MUTABLE | DIRTY;
    this.name = name;
    this.#value = value;
    this.#next = value;
    this.#filled = compute === undefined;
    this.#graph = graph;
    this.#compute = compute;
    this.#equals = equals;
  }

  get(): T {
    if (this.flags & (STALE | RUNNING)) this.#refresh();
    this.#graph.track(this);
    return this.#read();
  }

  peek(): T {
    if (this.flags & (STALE | RUNNING)) this.#refresh();
    return this.#read();
  }

  set(value: T): void {
    // A source is made with a value, so `#next` holds one.
    if (this.#equals(this.#next as T, value)) return;
    this.#next = value;
    this.flags = MUTABLE | DIRTY;
    if (this.subs === undefined) return;
    const graph = this.#graph;
    graph.depth++;
    propagate(this.subs);
    graph.leave();
  }

  dispose(): void {
    this.forget();
  }

  /** Nobody listens: drop the inputs, so that they do not hold this, and compute afresh when read again. */
  forget(): void {
    if (this.#compute === undefined || this.flags & RUNNING) return;
    this.flags = MUTABLE | DIRTY;
    this.depsTail = undefined;
    dropUnread(this);
  }

  enqueue(): void {
    // Values are not watched themselves; effects are.
  }

  update(): boolean {
    const compute = this.#compute;
    return compute === undefined ? this.#takeOver() : this.#run(compute);
  }

  /** A value that was set and set back changed nothing. */
  #takeOver(): boolean {
    this.flags = MUTABLE;
    return this.#accept(this.#next as T);
  }

  #run(compute: () => T): boolean {
    const graph = this.#graph;
    const { sub, owner } = graph;
    graph.version++;
    graph.depth++;
    graph.sub = this;
    graph.owner = undefined;
    graph.running.push(this);
    this.depsTail = undefined;
    this.flags = MUTABLE | RUNNING;
    let changed: boolean;
    try {
      changed = this.#accept(compute());
    } catch (error) {
      changed = this.#fail(error);
    }
    graph.running.pop();
    graph.sub = sub;
    graph.owner = owner;
    this.flags &= ~RUNNING;
    dropUnread(this);
    // Whoever asked holds a level of its own, so effects woken by this computation wait for its end.
    graph.depth--;
    return changed;
  }

  #refresh(): void {
    if (this.flags & RUNNING) {
      // The edge stays, so that whoever was refused is computed again once the cycle is broken.
      this.#graph.track(this);
      throw this.#graph.cycle(this);
    }
    if (this.#compute === undefined) this.#renew();
    else this.#recompute();
  }

  #recompute(): void {
    const graph = this.#graph;
    graph.depth++;
    try {
      if (this.flags & DIRTY || (this.deps !== undefined && checkDirty(this.deps, this))) {
        this.#renew();
      } else {
        this.flags &= ~PENDING;
      }
    } finally {
      graph.leave();
    }
  }

  #renew(): void {
    if (this.update() && this.subs !== undefined) shallowPropagate(this.subs);
  }

  #read(): T {
    if (this.#failed) throw this.#value;
    return this.#value as T;
  }

  #accept(value: T): boolean {
    if (this.#filled && !this.#failed && this.#equals(this.#value as T, value)) return false;
    this.#value = value;
    this.#failed = false;
    this.#filled = true;
    return true;
  }

  #fail(error: unknown): boolean {
    const same = this.#failed && Object.is(this.#value, error);
    // One slot for both: a node holds a value or an error, never both.
    this.#value = error as T;
    this.#failed = true;
    this.#filled = true;
    return !same;
  }
}
