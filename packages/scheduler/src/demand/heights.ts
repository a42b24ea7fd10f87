import type { Link } from "../graph/node.js";
import type { ActionNode } from "../run/action-node.js";
import type { Port } from "../trigger/port.js";

/**
 * Keeps every node above its inputs, so that running in height order runs inputs first. An edge that closes a cycle
 * cannot be kept so; it is remembered as a back edge and tried again when another edge goes.
 */
export class Heights {
  readonly #back = new Set<Link>();

  /** Back edges: 0 means the graph has no cycle. */
  get backEdges(): number {
    return this.#back.size;
  }

  /** A new edge from the port of `input` to a reader. */
  added(edge: Link, input: ActionNode): void {
    if (!this.#raise(input, edge.sub as ActionNode)) this.#back.add(edge);
  }

  /** An edge goes. With it a cycle may have ended. */
  removed(edge: Link): void {
    if (this.#back.size === 0) return;
    if (this.#back.delete(edge)) return;
    for (const back of this.#back) {
      const input = (back.dep as Port).writer;
      if (input === undefined || this.#raise(input, back.sub as ActionNode))
        this.#back.delete(back);
    }
  }

  /** Raises `reader` and what reads it above `input`; false when `input` itself is among them. */
  #raise(input: ActionNode, reader: ActionNode): boolean {
    if (reader.height > input.height) return true;
    const touched: ActionNode[] = [reader];
    reader.nextHeight = input.height + 1;
    const open = [reader];
    let acyclic = true;
    for (let node = open.pop(); node !== undefined && acyclic; node = open.pop()) {
      acyclic = node !== input && this.#raiseReaders(node, touched, open);
    }
    for (const node of touched) {
      if (acyclic) node.height = node.nextHeight;
      node.nextHeight = -1;
    }
    return acyclic;
  }

  #raiseReaders(node: ActionNode, touched: ActionNode[], open: ActionNode[]): boolean {
    const least = node.nextHeight + 1;
    for (let toPort = node.subs; toPort !== undefined; toPort = toPort.nextSub) {
      for (let edge = toPort.sub.subs; edge !== undefined; edge = edge.nextSub) {
        if (this.#back.size > 0 && this.#back.has(edge)) continue;
        const reader = edge.sub as ActionNode;
        if (Math.max(reader.height, reader.nextHeight) >= least) continue;
        if (reader.nextHeight < 0) touched.push(reader);
        reader.nextHeight = least;
        open.push(reader);
      }
    }
    return true;
  }
}
