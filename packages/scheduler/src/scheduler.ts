import type { ActionId, InstanceKey, ScopeKey } from "@tidemark/protocol";
import { Dependencies } from "./demand/dependencies.js";
import { recomputeLiveness } from "./demand/liveness.js";
import { RegistrationError } from "./errors.js";
import { WATCHING } from "./graph/node.js";
import { EventQueue } from "./queue/event-queue.js";
import { ActionNode, GONE } from "./run/action-node.js";
import { Marker } from "./run/marker.js";
import { Runner } from "./run/runner.js";
import { Gate } from "./settle/gate.js";
import { PassQueue } from "./settle/pass-queue.js";
import { SettleLoop } from "./settle/settle-loop.js";
import type {
  Change,
  EventTask,
  GateSpec,
  NodeHandle,
  NodeSpec,
  ReadEntry,
  SchedulerOptions,
  SchedulerStats,
  SettleResult,
} from "./types.js";

const SLICE_MS = 16;
const PASS_BUDGET = 100;

/**
 * The graph of one space: which action computes which document instance from which, what of it is demanded, and when it
 * runs. It knows no store; keys are opaque and values are compared by path. See SPEC.md for its rules.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #nodes = new Map<string, ActionNode>();
  readonly #queue = new PassQueue();
  readonly #deps: Dependencies;
  readonly #marker: Marker;
  readonly #runner: Runner;
  readonly #events: EventQueue;
  readonly #loop: SettleLoop;
  #tail: Promise<unknown> | undefined;
  #announced = false;
  #check: (() => void) | undefined;
  readonly #sendMarks = (): void => this.#runner.sendMarks();

  constructor(options: SchedulerOptions) {
    const { clock, report, passBudget = PASS_BUDGET, sliceMs = SLICE_MS, yielding } = options;
    this.#options = options;
    const wake = (): void => this.#wake();
    const eased = (): void => this.#loop.wake();
    this.#marker = new Marker({ clock, passBudget, report, wake, eased }, this.#queue);
    this.#deps = new Dependencies({
      marked: (node) => this.#marker.marked(node),
      entered: (node) => this.#marker.marked(node),
      left: (node) => this.#marker.left(node),
      sendMarks: this.#sendMarks,
    });
    this.#marker.bind(this.#deps);
    this.#runner = new Runner({ passBudget, report }, this.#deps, this.#marker, this.#queue);
    this.#events = new EventQueue(
      () => this.#wake(),
      (id, error) => report({ kind: "event-failed", id, error }),
    );
    this.#loop = new SettleLoop(
      { clock, sliceMs, yielding, onYield: () => options.onYield?.() },
      this.#events,
      this.#queue,
      this.#marker,
      this.#runner,
    );
  }

  /**
   * Adds a node; it runs when demanded or pulled, and not before.
   *
   * @throws RegistrationError when its identity or one of its keys is taken, or its parent is gone.
   */
  register(spec: NodeSpec): NodeHandle {
    const id = identity(spec.action, spec.instance);
    if (this.#nodes.has(id)) throw this.#refusal(spec, "it is registered already");
    const parent = spec.parent === undefined ? undefined : this.#own(spec.parent);
    if (parent?.registered === false) throw this.#refusal(spec, "its parent is unregistered");
    const node = new ActionNode(spec, parent, this.#sendMarks);
    this.#sendMarks();
    if (spec.gate !== undefined) {
      node.restrained().gate = new Gate(this.#options.clock, spec.gate, false);
    }
    this.#deps.attach(node);
    this.#nodes.set(id, node);
    if (parent !== undefined) (parent.children ??= new Set()).add(node);
    this.#check?.();
    return node;
  }

  /** Removes a node and its children, at once: none of them runs again. Twice does nothing. */
  unregister(handle: NodeHandle): void {
    const open = [this.#own(handle)];
    this.#sendMarks();
    const doomed: ActionNode[] = [];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (!node.registered) continue;
      node.flags |= GONE;
      doomed.push(node);
      if (node.children !== undefined) open.push(...node.children);
    }
    // Children before parents: the parent's port goes with its last child.
    for (let node = doomed.pop(); node !== undefined; node = doomed.pop()) this.#remove(node);
    this.#check?.();
  }

  /** The node with this durable identity, if it is registered. */
  node(action: ActionId, instance: ScopeKey): NodeHandle | undefined {
    return this.#nodes.get(identity(action, instance));
  }

  /** Registers a node's reads as those of a run that is still current; it does not run (recovery, seed 001 §6). */
  subscribeClean(handle: NodeHandle, reads: readonly ReadEntry[]): void {
    const node = this.#own(handle);
    if (!node.registered) return;
    this.#sendMarks();
    this.#runner.subscribeClean(node, reads);
    this.#check?.();
  }

  /**
   * What others see of these documents moved: by an outsider's write (`external`) or because a layer was withdrawn
   * (`rollback`). Readers whose path changed become dirty. A node that reads what it writes is told of an outsider's
   * value only, never of its own and never of a withdrawal (SC-06).
   */
  notify(changes: readonly Change[], cause: "external" | "rollback"): void {
    for (const change of changes) this.#runner.notify(change, cause === "rollback");
  }

  /** Makes a node dirty whatever its inputs say. */
  rearm(handle: NodeHandle): void {
    const node = this.#own(handle);
    if (!node.registered) return;
    this.#sendMarks();
    this.#marker.rearm(node);
  }

  /** Adds or withdraws one demand for a document instance; its writer, now or later, is live while there is any. */
  demand(key: InstanceKey, on: boolean): void {
    this.#sendMarks();
    this.#deps.demand(key, on);
    this.#check?.();
  }

  /** Whether the writer of a document has yet to run for what stands; without a writer nothing has. */
  isStale(key: InstanceKey): boolean {
    this.#sendMarks();
    const writer = this.#deps.index.get(key)?.writer;
    return writer !== undefined && !writer.current;
  }

  /**
   * Makes the writer of a key current now. The runtime calls it before it reads the key.
   *
   * @throws CycleError when that writer is running below the caller.
   * @throws PullDeferredError when the run must end and will be run again.
   */
  pull(key: InstanceKey): void {
    this.#runner.pull(key);
  }

  /** Makes recorded inputs current, and nothing else (PF-01, PF-04). */
  preflight(reads: readonly ReadEntry[]): void {
    for (const read of reads) this.#runner.pull(read.key);
  }

  /** Replaces a node's gate; without one the node may run at once. */
  setGate(handle: NodeHandle, gate: GateSpec | undefined): void {
    const node = this.#own(handle);
    this.#sendMarks();
    const restraint = node.restrained();
    restraint.gate?.cancel();
    restraint.gate =
      gate === undefined ? undefined : new Gate(this.#options.clock, gate, node.runs > 0);
    if (restraint.hold === "gate") this.#marker.unhold(node);
  }

  queueEvent(task: EventTask): void {
    this.#events.add(task);
    this.#wake();
  }

  /** Takes back queued tasks that have not started. */
  dropQueued(matches: (task: EventTask) => boolean): EventTask[] {
    return this.#events.drop(matches);
  }

  /**
   * Runs until nothing is left or time is up; at least one step. `deadlineAt` is in `clock.monotonic()` milliseconds.
   * Calls take turns: a second one begins when the first has ended.
   */
  settle(options: { readonly deadlineAt?: number } = {}): Promise<SettleResult> {
    if (this.#tail !== undefined) return this.#queueSettle(options.deadlineAt);
    // Called by what a settle runs: that settle is tracked by the time this turn is over.
    if (this.#loop.settling) return Promise.resolve().then(() => this.settle(options));
    this.#announced = false;
    const result = this.#loop.settle(options.deadlineAt);
    if (!(result instanceof Promise)) return Promise.resolve(result);
    return this.#track(result);
  }

  /**
   * Runs until nothing is left: queued and waiting events, demanded derivations, gated ones when their gate opens.
   * Undemanded dirt and cycles that back off do not hold it (R15).
   */
  async idle(): Promise<void> {
    do await this.settle();
    while (this.busy());
  }

  /** Something is left to do. */
  busy(): boolean {
    return this.#loop.busy();
  }

  /** An event task is running or waiting in its middle. */
  inEvent(): boolean {
    return this.#events.busy;
  }

  get stats(): SchedulerStats {
    const { index, liveness, edges } = this.#deps;
    return {
      nodes: this.#nodes.size,
      edges,
      ports: index.ports,
      documents: index.documents,
      live: liveness.live,
      queued: this.#queue.size,
      queuedEvents: this.#events.length,
      held: this.#marker.gated + this.#marker.retrying,
      backingOff: this.#marker.backingOff,
      runs: this.#runner.runs,
      failures: this.#runner.failures,
      retries: this.#runner.retries,
      events: this.#events.started,
      yields: this.#loop.yields,
      cuts: this.#marker.cuts,
      passes: this.#queue.pass,
      demandRootEnters: liveness.enters,
      demandRootLeaves: liveness.leaves,
    };
  }

  /** Stops every timer. The scheduler is not used afterwards. */
  dispose(): void {
    for (const node of this.#nodes.values()) node.restraint?.gate?.cancel();
    this.#marker.dispose();
  }

  /**
   * From now on compares liveness with its definition after every change, and throws where they differ. Costs a walk of
   * the graph each time: for tests (seed 001 §8).
   */
  checkLiveness(): void {
    this.#check = () => this.#compareLiveness();
    this.#runner.mutated = this.#check;
    this.#check();
  }

  #compareLiveness(): void {
    const expected = recomputeLiveness(this.#nodes.values());
    for (const node of this.#nodes.values()) {
      const refs = expected.get(node);
      const live = (node.flags & WATCHING) !== 0;
      if (live === (refs !== undefined) && node.refs === (refs ?? 0)) continue;
      throw new Error(
        `Liveness of ${node.name}: live ${live} with ${node.refs} references, should be ${refs !== undefined} with ${refs ?? 0}.`,
      );
    }
    if (expected.size === this.#deps.liveness.live) return;
    throw new Error(`${this.#deps.liveness.live} nodes count as live, should be ${expected.size}.`);
  }

  #remove(node: ActionNode): void {
    this.#nodes.delete(identity(node.action, node.instance));
    node.parent?.children?.delete(node);
    this.#marker.forget(node);
    this.#marker.left(node);
    this.#deps.detach(node);
  }

  #own(handle: NodeHandle): ActionNode {
    if (handle instanceof ActionNode) return handle;
    throw new TypeError("This is not a node handle of this scheduler.");
  }

  #refusal(spec: NodeSpec, why: string): RegistrationError {
    const { action, instance } = spec;
    return new RegistrationError(`${action} [${instance}]: ${why}.`, { action, instance });
  }

  #wake(): void {
    if (this.#loop.settling) {
      this.#loop.wake();
      return;
    }
    if (this.#announced) return;
    this.#announced = true;
    this.#options.onWork?.();
  }

  #queueSettle(deadlineAt: number | undefined): Promise<SettleResult> {
    const before = this.#tail;
    return this.#track(
      (async () => {
        await before;
        this.#announced = false;
        return this.#loop.settle(deadlineAt);
      })(),
    );
  }

  #track(running: Promise<SettleResult>): Promise<SettleResult> {
    const done = running.then(
      () => undefined,
      () => undefined,
    );
    this.#tail = done;
    void done.then(() => {
      if (this.#tail === done) this.#tail = undefined;
    });
    return running;
  }
}

function identity(action: ActionId, instance: ScopeKey): string {
  return `${instance} ${action}`;
}
