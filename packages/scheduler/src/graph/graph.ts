import { EffectNode } from "./effect-node.js";
import { GraphState } from "./graph-state.js";
import { ValueNode } from "./value-node.js";

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

/** Makes an empty graph. Everything is synchronous; nothing is scheduled. */
export function createGraph(options: GraphOptions = {}): Graph {
  const state = new GraphState<EffectNode>(options.maxRuns ?? 100);
  return {
    source: (value, { equals = Object.is, name = "source" } = {}) =>
      new ValueNode(state, value, undefined, equals, name),
    computed: (compute, { equals = Object.is, name = "computed" } = {}) =>
      new ValueNode(state, undefined, compute, equals, name),
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
