import type { ActionId, ScopeKey } from "@tidemark/protocol";
import { DIRTY, MUTABLE, STALE, WATCHING, type Link, type ReactiveNode } from "../graph/node.js";
import type { CycleBackoff } from "../settle/cycle-backoff.js";
import type { Gate } from "../settle/gate.js";
import type { DocEntry, Port } from "../trigger/port.js";
import type { NodeHandle, NodeSpec } from "../types.js";

/** Why a dirty node does not run now although something demands it. */
export type Hold = "gate" | "backoff" | "retry";

/**
 * One computation for one instance, as a node of the graph: its dependencies are the ports it read, its subscribers the
 * ports of what it writes. `WATCHING` means live: something demanded needs it.
 */
export class ActionNode implements ReactiveNode, NodeHandle {
  // What a step looks at comes first: it then touches few lines of memory.
  flags = MUTABLE | DIRTY;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  readonly spec: NodeSpec;
  /** Where it is queued: a bucket of the pass queue, or -1. */
  bucket = -1;
  queuePrev: ActionNode | undefined = undefined;
  queueNext: ActionNode | undefined = undefined;
  /** Greater than that of every input, edges that close a cycle aside: the order of a pass. */
  height = 0;
  /** The last pass it ran in. */
  lastPass = 0;
  runs = 0;
  /** While it runs: the edge that the next read will follow if it reads what the run before read. */
  cursor: Link | undefined = undefined;
  /** While it runs: the run that asked for it. */
  caller: ActionNode | undefined = undefined;
  registered = true;
  hold: Hold | undefined = undefined;
  tries = 0;
  gate: Gate | undefined = undefined;
  backoff: CycleBackoff | undefined = undefined;
  /** Somebody waits for this node to come off hold before deciding. */
  hasBlockedReaders = false;
  /** It has read what it writes: its last values are kept, to know its own from an outsider's. */
  readsOwn = false;
  /** Its own edge to its parent; stands before the reads. */
  ownerLink: Link | undefined = undefined;

  subsTail: Link | undefined = undefined;
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
  /** How often in a row it was dirtied by another node after it ran in the same pass. */
  streak = 0;
  streakEpoch = 0;
  /** What its children subscribe to, so that parents go first. */
  ownerPort: Port | undefined = undefined;
  children: Set<ActionNode> | undefined = undefined;

  constructor(spec: NodeSpec, parent: ActionNode | undefined) {
    this.spec = spec;
    this.parent = parent;
  }

  get action(): ActionId {
    return this.spec.action;
  }

  get instance(): ScopeKey {
    return this.spec.instance;
  }

  get current(): boolean {
    return this.registered && !(this.flags & STALE);
  }

  get live(): boolean {
    return (this.flags & WATCHING) !== 0;
  }

  /** For reports: the action, and the instance where it is not the space's. */
  get name(): string {
    return this.instance === "space" ? this.action : `${this.action} [${this.instance}]`;
  }
}
