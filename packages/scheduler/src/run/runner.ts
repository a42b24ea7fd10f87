import type { InstanceKey, JsonValue } from "@tidemark/protocol";
import { getAt, jsonEqual } from "@tidemark/protocol";
import type { Dependencies } from "../demand/dependencies.js";
import { PullDeferredError } from "../errors.js";
import type { Edge } from "../demand/edges.js";
import { DIRTY, RECURSED, RUNNING, STALE } from "../graph/node.js";
import type { PassQueue } from "../settle/pass-queue.js";
import { triesAgain } from "../settle/retry.js";
import type { DocEntry, Port } from "../trigger/port.js";
import { differs } from "../trigger/trigger-index.js";
import type { Change, ReadEntry, RunOutcome, SchedulerReport } from "../types.js";
import { GONE, READS_OWN, type ActionNode } from "./action-node.js";
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
  /** The edge that its next read will follow if it reads what the run before read. */
  #expected: Edge | undefined;
  #depth = 0;
  /** Somebody's inputs are being made current. */
  #pulling = false;
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
    if (!(node.flags & STALE)) return;
    if (!(node.flags & DIRTY)) this.#decide(node);
    else if (this.#mayRun(node) && this.#run(node)) {
      this.#makeCurrent(this.#takeAwaited());
      this.#makeCurrent(node);
      this.#waitedFor.clear();
    }
  }

  pull(key: InstanceKey): void {
    const expected = this.#expected;
    if (expected !== undefined && expected.port.key === key) {
      // It reads what it read last time: the port knows whether the writer is current, without a lookup.
      this.#expected = expected.nextDep;
      if (!expected.port.pending) return;
    }
    this.#pull(key);
  }

  #pull(key: InstanceKey): void {
    const writer = this.#deps.index.get(key)?.writer;
    if (writer === undefined) return;
    if (!this.#isDecided(writer)) this.sendMarks();
    if (writer.flags & RUNNING) {
      // What it wrote itself it may read; what another run below needs of it is not there yet.
      if (writer !== this.#top) this.#refuse(writer);
      return;
    }
    if (!isOpen(writer)) return;
    this.sendMarks();
    if (this.#depth >= MAX_NESTED_RUNS && this.#awaited === undefined) this.#await(writer);
    if (this.#awaited !== undefined || !this.#makeCurrent(writer)) throw new PullDeferredError(key);
    if (this.#waitedFor.size > 0 && this.#depth === 0) this.#waitedFor.clear();
  }

  /** Before anything looks at marks out of the order of heights, or changes the graph: sends those that were put off. */
  sendMarks(): void {
    if (this.#marker.unsent) this.#marker.sendMarks(this.#top);
  }

  /** A step runs, and what stands no higher than it has been decided: it carries every mark that it should. */
  #isDecided(writer: ActionNode): boolean {
    const top = this.#top;
    if (this.#depth !== 1 || this.#pulling || this.#deps.heights.cyclic) return false;
    return top !== undefined && writer.height <= top.height;
  }

  /** Nothing runs, nothing is pulled and nothing goes round: whatever runs next is the lowest. */
  get #inOrder(): boolean {
    return this.#depth === 0 && !this.#pulling && !this.#deps.heights.cyclic;
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
    const inOrder = this.#inOrder;
    for (const port of this.#deps.index.changed(doc, change)) {
      if (port.own && (rollback || isOwnValue(doc, port, change.after))) continue;
      for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
        this.#marker.dirty(edge.reader, undefined, inOrder);
      }
    }
  }

  /** Registers a node as current with these reads, without a run. */
  subscribeClean(node: ActionNode, reads: readonly ReadEntry[]): void {
    this.#queue.remove(node);
    node.flags &= ~(STALE | RECURSED);
    if (this.#deps.relink(node, reads)) this.#marker.pending(node);
    else this.#deps.clearPorts(node);
  }

  /**
   * Brings a node up to date, its recorded inputs first (R22), each after its own inputs, without recursion. False when
   * the runs on the stack must give way.
   */
  #makeCurrent(root: ActionNode): boolean {
    const outer = this.#pulling;
    this.#pulling = true;
    try {
      return this.#walkUp(root);
    } finally {
      this.#pulling = outer;
    }
  }

  #walkUp(root: ActionNode): boolean {
    const walk = ++this.#walk;
    const nodes = [root];
    const edges: (Edge | undefined)[] = [root.deps];
    root.walk = walk;
    while (nodes.length > 0) {
      const top = nodes.length - 1;
      const node = nodes[top] as ActionNode;
      const edge = isOpen(node) ? nextStaleInput(edges[top], walk) : undefined;
      if (edge !== undefined) {
        const input = edge.port.writer as ActionNode;
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
    return this.#mayRun(node) && this.#run(node);
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

  #mayRun(node: ActionNode): boolean {
    return node.restraint === undefined || this.#marker.gateOpen(node, this.#depth > 0);
  }

  /** True when the run gave way to an input that must run first. */
  #run(node: ActionNode): boolean {
    if (node.bucket >= 0) this.#queue.remove(node);
    node.lastPass = this.#queue.pass;
    node.flags = (node.flags & ~(STALE | RECURSED)) | RUNNING;
    const caller = this.#top;
    const expected = this.#expected;
    if (caller !== undefined) node.caller = caller;
    this.#top = node;
    this.#expected = node.ownerLink === undefined ? node.deps : node.ownerLink.nextDep;
    this.#depth++;
    const outcome = attempt(node);
    if (--this.#depth === 0) this.#marker.instant = undefined;
    this.#top = caller;
    this.#expected = expected;
    if (caller !== undefined) node.caller = undefined;
    node.flags &= ~RUNNING;
    this.runs++;
    node.runs++;
    node.restraint?.gate?.ran();
    const gaveWay = this.#awaited !== undefined;
    if (node.flags & GONE) this.#tell(node, outcome.changes);
    else if (gaveWay) this.#giveWay(node, outcome.reads);
    else this.#finish(node, outcome);
    this.mutated?.();
    return gaveWay;
  }

  #giveWay(node: ActionNode, reads: readonly ReadEntry[]): void {
    this.#deps.relink(node, reads);
    node.flags |= DIRTY;
    this.#marker.pending(node);
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
    else if (pending || node.flags & STALE) this.#marker.pending(node);
    else this.#settledAfterRun(node);
  }

  #settledAfterRun(node: ActionNode): void {
    this.#deps.clearPorts(node);
    if (node.restraint !== undefined) this.#marker.unblockReaders(node);
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
    const inOrder = this.#inOrder;
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
      if (edge.reader !== cause) this.#marker.dirty(edge.reader, cause, inOrder);
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
      if (node.restraint !== undefined) node.restraint.tries = 0;
      return false;
    }
    const restraint = node.restrained();
    const tries = ++restraint.tries;
    if (triesAgain(retry, tries, this.#options.passBudget)) {
      this.retries++;
      return true;
    }
    const { action, instance } = node;
    restraint.tries = 0;
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
  const { flags } = node;
  return (flags & STALE) !== 0 && !(flags & (RUNNING | GONE)) && node.hold === undefined;
}

/** The first edge from here on whose writer must be brought up to date and was not met in this walk. */
function nextStaleInput(from: Edge | undefined, walk: number): Edge | undefined {
  for (let edge = from; edge !== undefined; edge = edge.nextDep) {
    if (!edge.port.pending) continue;
    const input = edge.port.writer;
    if (input !== undefined && input.walk !== walk && isOpen(input)) return edge;
  }
  return undefined;
}

/** The one place where a node's one document is read, as most are: no need to look at the document then. */
function onlyPort(node: ActionNode, key: InstanceKey): Port | undefined {
  const port = node.ports;
  if (port === undefined || port.nextPort !== undefined || node.flags & READS_OWN) return undefined;
  return port.key === key ? port : undefined;
}

function docOf(node: ActionNode, key: InstanceKey): DocEntry | undefined {
  const { docs } = node;
  for (let i = 0; i < docs.length; i++) if (docs[i]?.key === key) return docs[i];
  return undefined;
}

function isOwnValue(doc: DocEntry, port: Port, after: JsonValue | undefined): boolean {
  const { path } = port.read;
  return jsonEqual(getAt(after, path), getAt(doc.written, path));
}
