import type { ActionNode } from "../run/action-node.js";
import type { Edge } from "./edges.js";

/**
 * Keeps every node above its inputs, so that running in height order runs inputs first. An edge that closes a cycle
 * cannot be kept so; it is remembered as a back edge and tried again when another edge goes.
 */
export class Heights {
  readonly #back = new Set<Edge>();

  /** The graph has cycles. */
  cyclic = false;

  /** A new edge from the port of `input` to a reader. */
  added(edge: Edge, input: ActionNode): void {
    if (this.#raise(input, edge.reader)) return;
    this.#back.add(edge);
    this.cyclic = true;
  }

  /** An edge goes. With it a cycle may have ended. */
  removed(edge: Edge): void {
    if (!this.cyclic) return;
    if (!this.#back.delete(edge)) this.#tryAgain();
    this.cyclic = this.#back.size > 0;
  }

  #tryAgain(): void {
    for (const back of this.#back) {
      const input = back.port.writer;
      if (input === undefined || this.#raise(input, back.reader)) this.#back.delete(back);
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
    for (let port = node.ports; port !== undefined; port = port.nextPort) {
      for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
        if (this.cyclic && this.#back.has(edge)) continue;
        const reader = edge.reader;
        if (Math.max(reader.height, reader.nextHeight) >= least) continue;
        if (reader.nextHeight < 0) touched.push(reader);
        reader.nextHeight = least;
        open.push(reader);
      }
    }
    return true;
  }
}
