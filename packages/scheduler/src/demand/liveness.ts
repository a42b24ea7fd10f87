import { STALE, WATCHING } from "../graph/node.js";
import type { ActionNode } from "../run/action-node.js";
import type { Edge } from "./edges.js";

export interface LivenessHooks {
  /** A node that must run became live. */
  readonly entered: (node: ActionNode) => void;
  readonly left: (node: ActionNode) => void;
  /** Whether the graph has cycles at present. */
  readonly cyclic: () => boolean;
}

/**
 * Which nodes something demanded needs, kept as edges and roots come and go; nothing rebuilds it (seed 001 §8). Every
 * change passes through here: `edgeAdded` and `edgesRemoved` for edges, `rootAdded` and `rootRemoved` for demand.
 */
export class Liveness {
  readonly #hooks: LivenessHooks;
  live = 0;
  enters = 0;
  leaves = 0;

  constructor(hooks: LivenessHooks) {
    this.#hooks = hooks;
  }

  edgeAdded(edge: Edge): void {
    const input = edge.port.writer;
    if (input === undefined || !(edge.reader.flags & WATCHING)) return;
    input.refs++;
    if (!(input.flags & WATCHING)) this.#enter(input);
  }

  edgeRemoved(node: ActionNode, edge: Edge): void {
    const input = edge.port.writer;
    if (input === undefined || !(node.flags & WATCHING)) return;
    if (--input.refs > 0 && !this.#hooks.cyclic()) return;
    this.#leaveIfUnneeded([input]);
  }

  /** Edges that `node` had until now. All references go before anything is judged: the node itself may leave by it. */
  edgesRemoved(node: ActionNode, edges: readonly Edge[]): void {
    if (!(node.flags & WATCHING)) return;
    const inputs: ActionNode[] = [];
    for (const edge of edges) {
      const input = edge.port.writer;
      if (input === undefined) continue;
      input.refs--;
      inputs.push(input);
    }
    this.#leaveIfUnneeded(inputs);
  }

  /** The node is unregistered: whoever still refers to it no longer counts. */
  gone(node: ActionNode): void {
    if (!(node.flags & WATCHING)) return;
    node.flags &= ~WATCHING;
    node.refs = 0;
    this.live--;
    this.#hooks.left(node);
  }

  rootAdded(node: ActionNode): void {
    if (node.roots++ === 0) this.enters++;
    if (!(node.flags & WATCHING)) this.#enter(node);
  }

  rootRemoved(node: ActionNode): void {
    if (--node.roots > 0) return;
    this.leaves++;
    this.#leaveIfUnneeded([node]);
  }

  #enter(first: ActionNode): void {
    const open = [first];
    first.flags |= WATCHING;
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      this.live++;
      for (let edge = node.deps; edge !== undefined; edge = edge.nextDep) {
        const input = edge.port.writer;
        if (input === undefined) continue;
        input.refs++;
        if (input.flags & WATCHING) continue;
        input.flags |= WATCHING;
        open.push(input);
      }
      if (node.flags & STALE) this.#hooks.entered(node);
    }
  }

  #leaveIfUnneeded(open: ActionNode[]): void {
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (!(node.flags & WATCHING) || node.roots > 0) continue;
      if (node.refs === 0) this.#leave([node], open);
      else if (this.#hooks.cyclic()) {
        // References may come from a cycle that keeps itself alive: look for a root above it.
        const orphans = orphansAbove(node);
        if (orphans !== undefined) this.#leave(orphans, open);
      }
    }
  }

  #leave(nodes: readonly ActionNode[], open: ActionNode[]): void {
    for (const node of nodes) {
      node.flags &= ~WATCHING;
      this.live--;
    }
    for (const node of nodes) {
      for (let edge = node.deps; edge !== undefined; edge = edge.nextDep) {
        const input = edge.port.writer;
        if (input === undefined) continue;
        input.refs--;
        open.push(input);
      }
      this.#hooks.left(node);
    }
  }
}

/** Everything live that needs `start`, when no root is among it; undefined when there is one. */
function orphansAbove(start: ActionNode): ActionNode[] | undefined {
  const seen = new Set([start]);
  for (const node of seen) {
    if (node.roots > 0) return undefined;
    for (let port = node.ports; port !== undefined; port = port.nextPort) {
      for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
        if (edge.reader.flags & WATCHING) seen.add(edge.reader);
      }
    }
  }
  return [...seen];
}

/** The definition: live is what the roots need. Tests compare {@link Liveness} with it after every change. */
export function recomputeLiveness(nodes: Iterable<ActionNode>): Map<ActionNode, number> {
  const refs = new Map<ActionNode, number>();
  const open: ActionNode[] = [];
  for (const node of nodes) {
    if (node.roots === 0) continue;
    refs.set(node, 0);
    open.push(node);
  }
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (let edge = node.deps; edge !== undefined; edge = edge.nextDep) {
      const input = edge.port.writer;
      if (input === undefined) continue;
      const known = refs.get(input);
      refs.set(input, (known ?? 0) + 1);
      if (known === undefined) open.push(input);
    }
  }
  return refs;
}
