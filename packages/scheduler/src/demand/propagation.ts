import { PENDING, RECURSED, RUNNING, STALE, WATCHING } from "../graph/node.js";
import type { ActionNode } from "../run/action-node.js";

/**
 * Sends marks down the graph: every place that a stale node writes is pending, and so is every reader of one. A mark
 * that meets another stops there. Nothing recurses.
 */
export class Propagation {
  readonly #marked: (node: ActionNode) => void;
  /** Readers whose own readers are still to be marked; a nested walk works above what is there. */
  readonly #open: (ActionNode | undefined)[] = [];
  #count = 0;

  constructor(marked: (node: ActionNode) => void) {
    this.#marked = marked;
  }

  /** Marks everything downstream of a node. */
  from(start: ActionNode): void {
    const first = this.#count;
    this.#markReaders(start);
    for (let next = first; next < this.#count; next++) {
      // Below the count an entry is a node that was put there and not taken yet.
      const node = this.#open[next] as ActionNode;
      this.#open[next] = undefined;
      this.#markReaders(node);
    }
    this.#count = first;
  }

  #markReaders(node: ActionNode): void {
    for (let port = node.ports; port !== undefined; port = port.nextPort) {
      if (port.pending) continue;
      port.pending = true;
      for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
        const { reader } = edge;
        if (this.#mark(reader) && reader.ports !== undefined) this.#open[this.#count++] = reader;
      }
    }
  }

  /** Marks one reader; whether marks must travel on. */
  #mark(reader: ActionNode): boolean {
    const { flags } = reader;
    if (!(flags & (STALE | RUNNING | RECURSED))) {
      reader.flags = flags | PENDING;
    } else if (flags & RUNNING) {
      if (flags & STALE) return false;
      // Its own doing, or late: the end of its run decides.
      reader.flags = flags | RECURSED | PENDING;
      return true;
    } else if (flags & RECURSED) {
      reader.flags = (flags & ~RECURSED) | PENDING;
    } else {
      return false;
    }
    if (flags & WATCHING) this.#marked(reader);
    return true;
  }
}
