import type { ActionId, ScopeKey } from "@tidemark/protocol";
import type { Edge } from "../demand/edges.js";
import { DIRTY, MUTABLE, STALE, WATCHING } from "../graph/node.js";
import type { DocEntry, Port } from "../trigger/port.js";
import type { NodeHandle, NodeSpec } from "../types.js";
import { Restraint, type Hold } from "./restraint.js";

/** The node is unregistered. */
export const GONE = 128;
/** It has read what it writes: its last values are kept, to know its own from an outsider's. */
export const READS_OWN = 256;

/**
 * One computation for one instance, as a node of the graph: it reads ports, and others read the ports of what it writes.
 * `WATCHING` means live: something demanded needs it.
 */
export class ActionNode implements NodeHandle {
  // What a step looks at comes first: it then touches few lines of memory.
  flags = MUTABLE | DIRTY;
  /** Where others read what it writes, its own reads of that aside. */
  ports: Port | undefined = undefined;
  deps: Edge | undefined = undefined;
  depsTail: Edge | undefined = undefined;
  readonly spec: NodeSpec;
  restraint: Restraint | undefined = undefined;
  /** Where it is queued: a bucket of the pass queue, or -1. */
  bucket = -1;
  queuePrev: ActionNode | undefined = undefined;
  queueNext: ActionNode | undefined = undefined;
  /** Greater than that of every input, edges that close a cycle aside: the order of a pass. */
  height = 0;
  /** The last pass it ran in. */
  lastPass = 0;
  runs = 0;
  /** Its own edge to its parent; stands before the reads. */
  ownerLink: Edge | undefined = undefined;

  portsTail: Port | undefined = undefined;
  /** While it runs: the run that asked for it. */
  caller: ActionNode | undefined = undefined;
  readonly parent: ActionNode | undefined;
  docs: readonly DocEntry[] = [];
  /** Edges from live subscribers. */
  refs = 0;
  /** Written keys with demand. */
  roots = 0;
  /** Scratch of a raise in progress; -1 outside of one. */
  nextHeight = -1;
  /** The last walk of a pull that met it. */
  walk = 0;
  /** What its children subscribe to, so that parents go first. */
  ownerPort: Port | undefined = undefined;
  children: Set<ActionNode> | undefined = undefined;

  readonly #sendMarks: () => void;

  constructor(spec: NodeSpec, parent: ActionNode | undefined, sendMarks: () => void) {
    this.spec = spec;
    this.parent = parent;
    this.#sendMarks = sendMarks;
  }

  get action(): ActionId {
    return this.spec.action;
  }

  get instance(): ScopeKey {
    return this.spec.instance;
  }

  get registered(): boolean {
    return !(this.flags & GONE);
  }

  get current(): boolean {
    this.#sendMarks();
    return !(this.flags & (STALE | GONE));
  }

  get live(): boolean {
    return (this.flags & WATCHING) !== 0;
  }

  get hold(): Hold | undefined {
    return this.restraint?.hold;
  }

  /** For reports: the action, and the instance where it is not the space's. */
  get name(): string {
    return this.instance === "space" ? this.action : `${this.action} [${this.instance}]`;
  }

  /** Its restraint, from now on. */
  restrained(): Restraint {
    return (this.restraint ??= new Restraint());
  }
}
