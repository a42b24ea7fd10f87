import { CycleError } from "../errors.js";
import { createAlgorithm } from "./algorithm.js";
import {
  DIRTY,
  MUTABLE,
  PENDING,
  RECURSED,
  RUNNING,
  STALE,
  WATCHING,
  type Link,
  type ReactiveNode,
} from "./node.js";

/** A value that is set from outside. */
export interface Source<T> {
  get(): T;
  set(value: T): void;
  /** Reads without becoming a dependency. */
  peek(): T;
}

/** A value computed from others: lazily, once per change, and not at all when its inputs came out equal. */
export interface Computed<T> {
  /** Throws what the computation threw, the same error at every read until an input changes. */
  get(): T;
  peek(): T;
  /** Drops every edge; a later read computes afresh. */
  dispose(): void;
}

export interface ValueOptions<T> {
  /** When two values count as the same. Default `Object.is`. */
  readonly equals?: (a: T, b: T) => boolean;
  /** Names the node in a {@link CycleError}. */
  readonly name?: string;
}

export interface GraphOptions {
  /** How often one effect may run in one flush before it counts as a cycle. Default 100. */
  readonly maxRuns?: number;
}

/** A self-contained graph: nodes of two graphs do not see each other. */
export interface Graph {
  source<T>(value: T, options?: ValueOptions<T>): Source<T>;
  computed<T>(compute: () => T, options?: ValueOptions<T>): Computed<T>;
  /**
   * Runs at once and after each change of what it read; what it returns cleans up before the next run. An effect made
   * inside another belongs to it. Errors of effects are thrown by the write that set them off, after all others ran.
   */
  effect(run: () => void | (() => void), options?: { readonly name?: string }): () => void;
  /** Effects wait until the outermost batch ends; they run even when it throws. */
  batch<T>(fn: () => T): T;
  untracked<T>(fn: () => T): T;
}

const { link, unlink, propagate, shallowPropagate, checkDirty } = createAlgorithm({
  update: (node) => (node as SourceNode<unknown> | ComputedNode<unknown>).update(),
  notify: (node) => (node as EffectNode).enqueue(),
  unwatched: (node) => {
    if (node instanceof ComputedNode) node.forget();
  },
});

/** What is going on in one graph right now. */
class GraphState {
  /** Whose reads become edges. */
  sub: ReactiveNode | undefined;
  /** Who owns effects made now. */
  owner: EffectNode | undefined;
  /** Open batches, runs and flushes: effects wait while it is above 0. */
  depth = 0;
  /** Counts runs; an edge that carries the present number was read in the present run. */
  version = 0;
  readonly queue: EffectNode[] = [];
  readonly running: { readonly name: string }[] = [];
  readonly maxRuns: number;

  constructor(maxRuns: number) {
    this.maxRuns = maxRuns;
  }

  track(node: ReactiveNode): void {
    if (this.sub !== undefined) link(node, this.sub, this.version);
  }

  /** Ends one level; the outermost one lets the effects run. */
  leave(): void {
    if (this.depth === 1 && this.queue.length > 0) this.flush();
    else this.depth--;
  }

  flush(): void {
    const errors: unknown[] = [];
    // Indexed: effects that run may queue more.
    for (let i = 0; i < this.queue.length; i++) {
      const effect = this.queue[i] as EffectNode;
      try {
        effect.flush();
      } catch (error) {
        errors.push(error);
      }
    }
    for (const effect of this.queue) effect.ranInFlush = 0;
    this.queue.length = 0;
    this.depth--;
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} effects failed.`);
  }

  cycle(node: { readonly name: string }): CycleError {
    const from = this.running.lastIndexOf(node);
    const path = this.running.slice(Math.max(0, from)).map((member) => member.name);
    return new CycleError([...path, node.name]);
  }
}

/** Drops the edges that the run just finished did not read again. */
function dropUnread(node: ReactiveNode): void {
  let edge = node.depsTail !== undefined ? node.depsTail.nextDep : node.deps;
  while (edge !== undefined) edge = unlink(edge);
}

class SourceNode<T> implements ReactiveNode {
  flags = MUTABLE;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  subsTail: Link | undefined = undefined;
  #value: T;
  #next: T;
  readonly #graph: GraphState;
  readonly #equals: (a: T, b: T) => boolean;

  constructor(graph: GraphState, value: T, equals: (a: T, b: T) => boolean) {
    this.#graph = graph;
    this.#value = value;
    this.#next = value;
    this.#equals = equals;
  }

  get(): T {
    this.#settle();
    this.#graph.track(this);
    return this.#value;
  }

  peek(): T {
    this.#settle();
    return this.#value;
  }

  set(value: T): void {
    if (this.#equals(this.#next, value)) return;
    this.#next = value;
    this.flags = MUTABLE | DIRTY;
    if (this.subs === undefined) return;
    const graph = this.#graph;
    graph.depth++;
    propagate(this.subs);
    graph.leave();
  }

  /** Takes over what was set since the last read; a value set and set back changed nothing. */
  update(): boolean {
    this.flags = MUTABLE;
    if (this.#equals(this.#value, this.#next)) return false;
    this.#value = this.#next;
    return true;
  }

  #settle(): void {
    if (this.flags & DIRTY && this.update() && this.subs !== undefined) shallowPropagate(this.subs);
  }
}

class ComputedNode<T> implements ReactiveNode {
  flags = MUTABLE | DIRTY;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  subsTail: Link | undefined = undefined;
  readonly name: string;
  /** The value, or the error when `#failed`. */
  #value: T | undefined = undefined;
  #failed = false;
  #computedOnce = false;
  readonly #graph: GraphState;
  readonly #compute: () => T;
  readonly #equals: (a: T, b: T) => boolean;

  constructor(graph: GraphState, compute: () => T, equals: (a: T, b: T) => boolean, name: string) {
    this.#graph = graph;
    this.#compute = compute;
    this.#equals = equals;
    this.name = name;
  }

  get(): T {
    this.#refresh();
    this.#graph.track(this);
    return this.#read();
  }

  peek(): T {
    this.#refresh();
    return this.#read();
  }

  dispose(): void {
    this.forget();
  }

  /** Nobody listens: drop the inputs, so that they do not hold this, and compute afresh when read again. */
  forget(): void {
    if (this.flags & RUNNING) return;
    this.flags = MUTABLE | DIRTY;
    this.depsTail = undefined;
    dropUnread(this);
  }

  update(): boolean {
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
      changed = this.#accept(this.#compute());
    } catch (error) {
      changed = this.#fail(error);
    }
    graph.running.pop();
    graph.sub = sub;
    graph.owner = owner;
    this.flags &= ~RUNNING;
    dropUnread(this);
    // Inside a check or a run the depth is above 1; effects woken by writes of this computation wait for its end.
    graph.depth--;
    return changed;
  }

  #refresh(): void {
    const flags = this.flags;
    if (flags & RUNNING) {
      // The edge stays, so that whoever was refused is computed again once the cycle is broken.
      this.#graph.track(this);
      throw this.#graph.cycle(this);
    }
    if (!(flags & STALE)) return;
    const graph = this.#graph;
    graph.depth++;
    try {
      if (flags & DIRTY || (this.deps !== undefined && checkDirty(this.deps, this))) {
        if (this.update() && this.subs !== undefined) shallowPropagate(this.subs);
      } else {
        this.flags &= ~PENDING;
      }
    } finally {
      graph.leave();
    }
  }

  #read(): T {
    if (this.#failed) throw this.#value;
    return this.#value as T;
  }

  #accept(value: T): boolean {
    const same = this.#computedOnce && !this.#failed && this.#equals(this.#value as T, value);
    if (same) return false;
    this.#value = value;
    this.#failed = false;
    this.#computedOnce = true;
    return true;
  }

  #fail(error: unknown): boolean {
    const same = this.#failed && Object.is(this.#value, error);
    // One slot for both: a node holds a value or an error, never both.
    this.#value = error as T;
    this.#failed = true;
    this.#computedOnce = true;
    return !same;
  }
}

class EffectNode implements ReactiveNode {
  flags = WATCHING;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  subsTail: Link | undefined = undefined;
  readonly name: string;
  ranInFlush = 0;
  #disposed = false;
  #cleanup: (() => void) | undefined = undefined;
  #children: EffectNode[] | undefined = undefined;
  readonly #graph: GraphState;
  readonly #run: () => void | (() => void);
  readonly #owner: EffectNode | undefined;

  constructor(graph: GraphState, run: () => void | (() => void), name: string) {
    this.#graph = graph;
    this.#run = run;
    this.name = name;
    this.#owner = graph.owner;
    if (this.#owner !== undefined) (this.#owner.#children ??= []).push(this);
  }

  enqueue(): void {
    this.flags &= ~WATCHING;
    this.#graph.queue.push(this);
  }

  /** The first run. An effect whose first run throws is disposed: nobody holds a way to do it. */
  start(): void {
    const graph = this.#graph;
    graph.depth++;
    try {
      this.#execute();
    } catch (error) {
      this.dispose();
      throw error;
    } finally {
      graph.leave();
    }
  }

  flush(): void {
    if (this.#disposed) return;
    // An owner that must run again disposes this one, so it goes first.
    if (this.#owner !== undefined && this.#owner.flags & STALE) this.#owner.flush();
    if (this.#disposed || !(this.flags & STALE)) return;
    const dirty = this.flags & DIRTY || (this.deps !== undefined && checkDirty(this.deps, this));
    if (this.#disposed) return;
    if (dirty) this.#execute();
    else this.flags = WATCHING;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.flags = 0;
    this.depsTail = undefined;
    dropUnread(this);
    this.#disposeChildren();
    this.#clean();
  }

  #execute(): void {
    const graph = this.#graph;
    if (++this.ranInFlush > graph.maxRuns) {
      this.flags = WATCHING;
      throw new CycleError([this.name, this.name]);
    }
    this.#disposeChildren();
    this.#cleanOrDispose();
    if (this.#disposed) return;
    const { sub, owner } = graph;
    graph.version++;
    graph.sub = this;
    graph.owner = this;
    graph.running.push(this);
    this.depsTail = undefined;
    this.flags = WATCHING | RUNNING;
    try {
      const cleanup = this.#run();
      if (typeof cleanup === "function") this.#cleanup = cleanup;
    } finally {
      graph.running.pop();
      graph.sub = sub;
      graph.owner = owner;
      this.#finish();
    }
  }

  #finish(): void {
    if (this.#disposed) {
      this.depsTail = undefined;
      dropUnread(this);
      this.#disposeChildren();
      this.#clean();
      return;
    }
    this.flags &= ~(RUNNING | RECURSED);
    dropUnread(this);
    // It wrote what it had read: again, until it comes to rest or runs out of turns.
    if (this.flags & STALE) this.enqueue();
    else this.ranInFlush = this.#graph.depth > 0 ? this.ranInFlush : 0;
  }

  #disposeChildren(): void {
    const children = this.#children;
    if (children === undefined) return;
    this.#children = undefined;
    for (const child of children) child.dispose();
  }

  #cleanOrDispose(): void {
    try {
      this.#clean();
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /** Cleans up outside of every tracking context. */
  #clean(): void {
    const cleanup = this.#cleanup;
    if (cleanup === undefined) return;
    this.#cleanup = undefined;
    const graph = this.#graph;
    const { sub, owner } = graph;
    graph.sub = undefined;
    graph.owner = undefined;
    graph.depth++;
    try {
      cleanup();
    } finally {
      graph.sub = sub;
      graph.owner = owner;
      graph.leave();
    }
  }
}

/** Makes an empty graph. Everything is synchronous; nothing is scheduled. */
export function createGraph(options: GraphOptions = {}): Graph {
  const state = new GraphState(options.maxRuns ?? 100);
  return {
    source: (value, { equals = Object.is } = {}) => new SourceNode(state, value, equals),
    computed: (compute, { equals = Object.is, name = "computed" } = {}) =>
      new ComputedNode(state, compute, equals, name),
    effect(run, { name = "effect" } = {}) {
      const node = new EffectNode(state, run, name);
      node.start();
      return () => node.dispose();
    },
    batch(fn) {
      state.depth++;
      try {
        return fn();
      } finally {
        state.leave();
      }
    },
    untracked(fn) {
      const { sub } = state;
      state.sub = undefined;
      try {
        return fn();
      } finally {
        state.sub = sub;
      }
    },
  };
}
