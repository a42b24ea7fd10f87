import type { InstanceKey, JsonValue } from "@tidemark/protocol";
import { getAt, jsonEqual } from "@tidemark/protocol";
import type { Dependencies } from "../demand/dependencies.js";
import { PullDeferredError } from "../errors.js";
import { DIRTY, PENDING, RECURSED, RUNNING, STALE, type Link } from "../graph/node.js";
import type { PassQueue } from "../settle/pass-queue.js";
import { triesAgain } from "../settle/retry.js";
import type { DocEntry, Port } from "../trigger/port.js";
import { differs } from "../trigger/trigger-index.js";
import type { Change, ReadEntry, RunOutcome, SchedulerReport } from "../types.js";
import type { ActionNode } from "./action-node.js";
import type { Marker } from "./marker.js";
import { cycleError } from "../settle/cycle-path.js";

/** Runs nested deeper than this give way: what is missing runs on its own, then they run again. */
const MAX_NESTED_RUNS = 128;

export interface RunnerOptions {
  readonly passBudget: number;
  readonly report: (report: SchedulerReport) => void;
}

/** Runs nodes, subscribes them to what they read, and tells the readers of what they changed. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #deps: Dependencies;
  readonly #marker: Marker;
  readonly #queue: PassQueue;
  /** The node whose run asks now; the runs below it follow by `caller`. */
  #top: ActionNode | undefined;
  #depth = 0;
  /** The input for whose sake the runs on the stack are giving way. */
  #awaited: ActionNode | undefined;
  /** Inputs that this step has given way to once. */
  readonly #waitedFor = new Set<ActionNode>();
  #walk = 0;
  /** Called after each run, where tests check liveness. */
  mutated: (() => void) | undefined;
  runs = 0;
  failures = 0;
  retries = 0;

  constructor(options: RunnerOptions, deps: Dependencies, marker: Marker, queue: PassQueue) {
    this.#options = options;
    this.#deps = deps;
    this.#marker = marker;
    this.#queue = queue;
  }

  /** One step of a pass: runs the node, or finds that it need not run. */
  step(node: ActionNode): void {
    if (!(node.flags & STALE) || !node.registered) return;
    if (!(node.flags & DIRTY)) this.#decide(node);
    else if ((node.gate === undefined || this.#marker.gateOpen(node)) && this.#run(node)) {
      this.#makeCurrent(this.#takeAwaited());
      this.#makeCurrent(node);
      this.#waitedFor.clear();
    }
  }

  pull(key: InstanceKey): void {
    const reader = this.#top;
    const expected = reader?.cursor;
    if (reader !== undefined && expected !== undefined) {
      const port = expected.dep as Port;
      if (port.key === key) {
        // It reads what it read last time: the port knows whether the writer is current, without a lookup.
        reader.cursor = expected.nextDep;
        if (!(port.flags & PENDING)) return;
      }
    }
    this.#pull(key);
  }

  #pull(key: InstanceKey): void {
    const writer = this.#deps.index.get(key)?.writer;
    if (writer === undefined) return;
    if (writer.flags & RUNNING) {
      // What it wrote itself it may read; what another run below needs of it is not there yet.
      if (writer !== this.#top) this.#refuse(writer);
      return;
    }
    if (!isOpen(writer)) return;
    if (this.#depth >= MAX_NESTED_RUNS && this.#awaited === undefined) this.#await(writer);
    if (this.#awaited !== undefined || !this.#makeCurrent(writer)) throw new PullDeferredError(key);
    if (this.#waitedFor.size > 0 && this.#depth === 0) this.#waitedFor.clear();
  }

  /** Makes the runs on the stack give way, unless they did so for this writer already and it is still not current. */
  #await(writer: ActionNode): void {
    if (this.#waitedFor.has(writer)) return;
    this.#waitedFor.add(writer);
    this.#awaited = writer;
  }

  #takeAwaited(): ActionNode {
    // Read only after a run that gave way, which set it.
    const awaited = this.#awaited as ActionNode;
    this.#awaited = undefined;
    return awaited;
  }

  /** Tells readers of an outsider's change, or of one that was withdrawn. */
  notify(change: Change, rollback: boolean): void {
    const doc = this.#deps.index.get(change.key);
    if (doc === undefined) return;
    for (const port of this.#deps.index.changed(doc, change)) {
      if (port.own && (rollback || isOwnValue(doc, port, change.after))) continue;
      for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
        this.#marker.dirty(edge.sub as ActionNode, undefined);
      }
    }
  }

  /** Registers a node as current with these reads, without a run. */
  subscribeClean(node: ActionNode, reads: readonly ReadEntry[]): void {
    this.#queue.remove(node);
    node.flags &= ~(STALE | RECURSED);
    if (this.#deps.relink(node, reads)) this.#stillPending(node);
    else this.#deps.clearPorts(node);
  }

  /**
   * Brings a node up to date, its recorded inputs first (R22), each after its own inputs, without recursion. False when
   * the runs on the stack must give way.
   */
  #makeCurrent(root: ActionNode): boolean {
    const walk = ++this.#walk;
    const nodes = [root];
    const edges: (Link | undefined)[] = [root.deps];
    root.walk = walk;
    while (nodes.length > 0) {
      const top = nodes.length - 1;
      const node = nodes[top] as ActionNode;
      const edge = isOpen(node) ? nextStaleInput(edges[top], walk) : undefined;
      if (edge !== undefined) {
        const input = (edge.dep as Port).writer as ActionNode;
        edges[top] = edge.nextDep;
        input.walk = walk;
        nodes.push(input);
        edges.push(input.deps);
        continue;
      }
      nodes.pop();
      edges.pop();
      if (!isOpen(node) || !this.#settleOne(node)) continue;
      if (this.#depth > 0) return false;
      // Nothing is below: what was missing runs first, then this again.
      const awaited = this.#takeAwaited();
      nodes.push(node, awaited);
      edges.push(node.deps, awaited.deps);
    }
    return true;
  }

  /** Runs a node whose inputs are current, or finds it current; true when it gave way. */
  #settleOne(node: ActionNode): boolean {
    if (!(node.flags & DIRTY)) {
      this.#decide(node);
      return false;
    }
    return this.#marker.gateOpen(node) && this.#run(node);
  }

  /** Marked, but no input of it changed: current, unless one is still held back. */
  #decide(node: ActionNode): void {
    if (!this.#marker.isBlocked(node)) this.#settled(node);
  }

  #settled(node: ActionNode): void {
    if (node.bucket >= 0) this.#queue.remove(node);
    node.flags &= ~(STALE | RECURSED);
    this.#deps.clearPorts(node);
    this.#marker.unblockReaders(node);
  }

  /** True when the run gave way to an input that must run first. */
  #run(node: ActionNode): boolean {
    if (node.bucket >= 0) this.#queue.remove(node);
    node.lastPass = this.#queue.pass;
    node.flags = (node.flags & ~(STALE | RECURSED)) | RUNNING;
    node.cursor = node.ownerLink === undefined ? node.deps : node.ownerLink.nextDep;
    const caller = this.#top;
    if (caller !== undefined) node.caller = caller;
    this.#top = node;
    this.#depth++;
    const outcome = attempt(node);
    this.#depth--;
    this.#top = caller;
    if (node.cursor !== undefined) node.cursor = undefined;
    if (caller !== undefined) node.caller = undefined;
    node.flags &= ~RUNNING;
    this.runs++;
    node.runs++;
    node.gate?.ran();
    const gaveWay = this.#awaited !== undefined;
    if (!node.registered) this.#tell(node, outcome.changes);
    else if (gaveWay) this.#giveWay(node, outcome.reads);
    else this.#finish(node, outcome);
    this.mutated?.();
    return gaveWay;
  }

  #giveWay(node: ActionNode, reads: readonly ReadEntry[]): void {
    this.#deps.relink(node, reads);
    node.flags |= STALE;
    if (node.live) this.#marker.marked(node);
  }

  #finish(node: ActionNode, outcome: RunOutcome): void {
    // Marks that its own writes send round a cycle come later and are no news.
    const late = (node.flags & STALE) !== 0;
    // A run that failed before it could say what it read keeps its subscriptions (SC-13).
    const keepsReads = outcome.failed !== undefined && outcome.reads.length === 0;
    const pending = !keepsReads && this.#deps.relink(node, outcome.reads);
    this.#tell(node, outcome.changes);
    if (outcome.failed !== undefined) this.#failed(node, outcome);
    if (this.#triesAgain(node, outcome)) this.#marker.again(node);
    else if (late) this.#marker.late(node);
    else if (pending || node.flags & STALE) this.#stillPending(node);
    else this.#settledAfterRun(node);
  }

  #settledAfterRun(node: ActionNode): void {
    this.#deps.clearPorts(node);
    this.#marker.unblockReaders(node);
  }

  /** It read something that is not current yet; if that changes, it is told. */
  #stillPending(node: ActionNode): void {
    node.flags |= PENDING;
    if (node.live) this.#marker.marked(node);
  }

  /** Tells the readers of what a node changed, itself aside: its own writes are no trigger. */
  #tell(node: ActionNode, changes: readonly Change[]): void {
    for (let i = 0; i < changes.length; i++) {
      const change = changes[i] as Change;
      const only = onlyPort(node, change.key);
      if (only !== undefined) {
        if (differs(only, change)) this.#tellReaders(only, node);
        continue;
      }
      const doc = docOf(node, change.key) ?? this.#deps.index.get(change.key);
      if (doc === undefined) continue;
      const hit = this.#deps.index.changed(doc, change);
      for (let at = 0; at < hit.length; at++) this.#tellReaders(hit[at] as Port, node);
      if (doc.ownPorts > 0 && doc.writer === node) doc.written = change.after;
    }
  }

  #tellReaders(port: Port, cause: ActionNode): void {
    if (port.own) return;
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
      if (edge.sub !== cause) this.#marker.dirty(edge.sub as ActionNode, cause);
    }
  }

  #failed(node: ActionNode, outcome: RunOutcome): void {
    this.failures++;
    // A class that is tried again reports once, when it is given up.
    if (outcome.retry !== undefined && outcome.retry !== "none") return;
    this.#options.report({
      kind: "action-failed",
      action: node.action,
      instance: node.instance,
      error: outcome.failed,
    });
  }

  #triesAgain(node: ActionNode, outcome: RunOutcome): boolean {
    const { retry } = outcome;
    if (retry === undefined || retry === "none") {
      if (node.tries !== 0) node.tries = 0;
      return false;
    }
    node.tries++;
    if (triesAgain(retry, node.tries, this.#options.passBudget)) {
      this.retries++;
      return true;
    }
    const { action, instance, tries } = node;
    node.tries = 0;
    this.#options.report({
      kind: "retry-exhausted",
      action,
      instance,
      retry,
      tries,
      error: outcome.failed,
    });
    return false;
  }

  #refuse(writer: ActionNode): never {
    // From the top down each run feeds the one below it.
    const feeding: ActionNode[] = [];
    let node = this.#top;
    while (node !== undefined && node !== writer) {
      feeding.push(node);
      node = node.caller;
    }
    feeding.push(writer);
    this.#marker.cycle(feeding);
    throw cycleError(feeding);
  }
}

function attempt(node: ActionNode): RunOutcome {
  try {
    return node.spec.run();
  } catch (error) {
    return { reads: [], changes: [], failed: error };
  }
}

function isOpen(node: ActionNode): boolean {
  return node.registered && (node.flags & STALE) !== 0 && !(node.flags & RUNNING) && !node.hold;
}

/** The first edge from here on whose writer must be brought up to date and was not met in this walk. */
function nextStaleInput(from: Link | undefined, walk: number): Link | undefined {
  for (let edge = from; edge !== undefined; edge = edge.nextDep) {
    if (!(edge.dep.flags & PENDING)) continue;
    const input = (edge.dep as Port).writer;
    if (input !== undefined && input.walk !== walk && isOpen(input)) return edge;
  }
  return undefined;
}

/** The one place where a node's one document is read, as most are: no need to look at the document then. */
function onlyPort(node: ActionNode, key: InstanceKey): Port | undefined {
  const edge = node.subs;
  if (edge === undefined || edge.nextSub !== undefined || node.readsOwn) return undefined;
  const port = edge.sub as Port;
  return port.key === key ? port : undefined;
}

function docOf(node: ActionNode, key: InstanceKey): DocEntry | undefined {
  const { docs } = node;
  for (let i = 0; i < docs.length; i++) if (docs[i]?.key === key) return docs[i];
  return undefined;
}

function isOwnValue(doc: DocEntry, port: Port, after: JsonValue | undefined): boolean {
  return jsonEqual(getAt(after, port.path), getAt(doc.written, port.path));
}
