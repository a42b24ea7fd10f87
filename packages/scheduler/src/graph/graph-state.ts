import { CycleError } from "../errors.js";
import { createAlgorithm } from "./algorithm.js";
import type { ReactiveNode } from "./node.js";

/** What the algorithm asks of a node of this graph. */
export interface GraphNode extends ReactiveNode {
  /** Brings a dirty value up to date; says whether it changed. */
  update(): boolean;
  /** A watched node was marked. */
  enqueue(): void;
  /** Nobody reads it any more. */
  forget(): void;
}

/** An effect, as the flush sees it. */
export interface QueuedEffect {
  ranInFlush: number;
  flush(): void;
}

/** One instance for all graphs: it holds no state of any. */
export const algorithm = createAlgorithm({
  update: (node) => (node as GraphNode).update(),
  notify: (node) => (node as GraphNode).enqueue(),
  unwatched: (node) => {
    forgotten.push(node as GraphNode);
    if (forgotten.length === 1) forgetAll();
  },
});

/** Nodes that lost their last subscriber; the first stays while the list is worked off, as the sign of it. */
const forgotten: GraphNode[] = [];

/** Letting go of one node lets go of its inputs: a loop, because a chain of any length may end here. */
function forgetAll(): void {
  for (let i = 0; i < forgotten.length; i++) forgotten[i]?.forget();
  forgotten.length = 0;
}

const { link, unlink } = algorithm;

/** What is going on in one graph right now. */
export class GraphState<Owner extends QueuedEffect = QueuedEffect> {
  /** Whose reads become edges. */
  sub: ReactiveNode | undefined;
  /** Who owns effects made now. */
  owner: Owner | undefined;
  /** Open batches, runs and flushes: effects wait while it is above 0. */
  depth = 0;
  /** Counts runs; an edge that carries the present number was read in the present run. */
  version = 0;
  readonly queue: QueuedEffect[] = [];
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
      const effect = this.queue[i] as QueuedEffect;
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
export function dropUnread(node: ReactiveNode): void {
  let edge = node.depsTail !== undefined ? node.depsTail.nextDep : node.deps;
  while (edge !== undefined) edge = unlink(edge);
}
