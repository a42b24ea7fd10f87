import type { Clock } from "@tidemark/protocol";
import type { Dependencies } from "../demand/dependencies.js";
import { DIRTY, PENDING, RECURSED, RUNNING, STALE, WATCHING } from "../graph/node.js";
import { CycleBackoff } from "../settle/cycle-backoff.js";
import { cycleError, cycleKey, cycleThrough } from "../settle/cycle-path.js";
import type { PassQueue } from "../settle/pass-queue.js";
import type { Port } from "../trigger/port.js";
import type { SchedulerReport } from "../types.js";
import type { ActionNode } from "./action-node.js";

export interface MarkerOptions {
  readonly clock: Clock;
  readonly passBudget: number;
  readonly report: (report: SchedulerReport) => void;
  /** There is something to run that was not there before. */
  readonly wake: () => void;
}

/**
 * Decides what becomes of a mark: queued, held back by a gate, resting as part of a cycle, waiting for one that is held.
 * A held node keeps its mark; the flag RECURSED on it and on whoever waits for it lets later marks pass through.
 */
export class Marker {
  readonly #options: MarkerOptions;
  readonly #queue: PassQueue;
  #deps: Dependencies | undefined;
  /** Whether the marks now travelling come from outside the graph. */
  #outside = true;
  readonly #retries: ActionNode[] = [];
  readonly #resting = new Set<CycleBackoff>();
  readonly #reported = new Set<string>();
  /** Rises at every rest: counts of what happened before it no longer matter. */
  epoch = 0;
  /** Live nodes that wait for their gate. */
  gated = 0;
  cuts = 0;

  constructor(options: MarkerOptions, queue: PassQueue) {
    this.#options = options;
    this.#queue = queue;
  }

  /** Two halves that need each other: the edges tell the marker, the marker marks along the edges. */
  bind(deps: Dependencies): void {
    this.#deps = deps;
  }

  get backingOff(): number {
    return this.#resting.size;
  }

  get retrying(): number {
    return this.#retries.length;
  }

  /** A live node was marked, or a stale one became live. */
  marked(node: ActionNode): void {
    this.#enqueue(node, this.#outside);
  }

  /** An input of the node changed. `cause` is the node that wrote it, or undefined for the world outside. */
  dirty(node: ActionNode, cause: ActionNode | undefined): void {
    if (node.flags & RUNNING) {
      // Inputs that it pulls move while it runs, and it reads them after they did. Only an outsider comes late.
      if (cause === undefined) node.flags |= STALE;
      return;
    }
    if (cause !== undefined && node.bucket >= 0 && node.backoff === undefined) {
      // Marked and queued already, as nearly all are in the middle of a settle.
      node.flags |= STALE;
      if (node.tries !== 0) node.tries = 0;
      node.gate?.changed();
      return;
    }
    if (cause === undefined && isPlain(node)) {
      // Current, with nothing to look after, as nearly all are when an input moves.
      if (node.tries !== 0) node.tries = 0;
      if (node.streak !== 0) node.streak = 0;
      node.flags |= STALE;
      if (node.subs !== undefined) this.#deps?.markReaders(node);
      if (node.flags & WATCHING) this.#enqueue(node, true);
      return;
    }
    this.#outside = cause === undefined;
    if (cause === undefined || !node.backoff?.members.has(cause)) this.#news(node, cause);
    if (cause !== undefined && this.#spent(node)) this.#cut(node, cycleThrough(node));
    this.#markStale(node);
    this.#outside = true;
  }

  /** An outsider's change came in the middle of its run: once more, on a later pass, and not for ever. */
  late(node: ActionNode): void {
    if (this.#spent(node)) this.#cut(node, cycleThrough(node) ?? [node]);
    node.flags |= STALE;
    this.#outside = false;
    if (node.flags & WATCHING) this.#enqueue(node, false);
    this.#outside = true;
  }

  /** Must run, whatever its inputs say. */
  rearm(node: ActionNode): void {
    this.#news(node, undefined);
    if (node.flags & RUNNING) node.flags |= STALE;
    else this.#markStale(node);
  }

  /** Ran, and is still not current: waits for another pass. */
  again(node: ActionNode): void {
    node.flags |= STALE | RECURSED;
    this.#deps?.markReaders(node);
    node.hold = "retry";
    this.#retries.push(node);
  }

  /** Begins the next pass: what waited for one is let go. */
  turn(): void {
    this.#queue.turn();
    if (this.#retries.length === 0) return;
    for (const node of this.#retries.splice(0)) if (node.hold === "retry") this.unhold(node);
  }

  /** The graph is at rest. */
  rested(): void {
    this.epoch++;
  }

  /** Whether the gate of a node lets it run now; else it is held until the gate wakes it. */
  gateOpen(node: ActionNode): boolean {
    const wait = node.gate?.waitMs() ?? 0;
    if (wait <= 0) return true;
    node.flags |= RECURSED;
    if (node.hold === undefined && node.flags & WATCHING) {
      node.hold = "gate";
      this.gated++;
    }
    if (node.flags & WATCHING) node.gate?.arm(wait, () => this.unhold(node));
    return false;
  }

  /** Lets a held node go on. */
  unhold(node: ActionNode): void {
    if (node.hold === "gate") this.gated--;
    node.hold = undefined;
    node.gate?.cancel();
    if (node.flags & STALE && node.flags & WATCHING) this.#enqueue(node, true);
    else this.unblockReaders(node);
  }

  /** Waits, if an input is held or waits itself: what it will be is not known yet. */
  isBlocked(node: ActionNode): boolean {
    let blocked = false;
    for (let edge = node.deps; edge !== undefined; edge = edge.nextDep) {
      if (!(edge.dep.flags & PENDING)) continue;
      const input = (edge.dep as Port).writer;
      if (input === undefined || (input.hold === undefined && !(input.flags & RECURSED))) continue;
      input.hasBlockedReaders = true;
      blocked = true;
    }
    if (blocked) node.flags |= RECURSED;
    return blocked;
  }

  /** The node was held and is decided now: whoever waited for it looks again. */
  unblockReaders(node: ActionNode): void {
    if (!node.hasBlockedReaders) return;
    node.hasBlockedReaders = false;
    for (let toPort = node.subs; toPort !== undefined; toPort = toPort.nextSub) {
      for (let edge = toPort.sub.subs; edge !== undefined; edge = edge.nextSub) {
        const waits = STALE & edge.sub.flags && edge.sub.flags & WATCHING;
        if (waits) this.#enqueue(edge.sub as ActionNode, true);
      }
    }
  }

  /** No longer live, or gone: nothing is queued or armed for it. */
  left(node: ActionNode): void {
    this.#queue.remove(node);
    node.gate?.cancel();
    if (node.hold !== "gate") return;
    this.gated--;
    node.hold = undefined;
  }

  /** The node is unregistered. */
  forget(node: ActionNode): void {
    if (node.backoff !== undefined) this.#release(node.backoff);
  }

  cycle(members: readonly ActionNode[]): void {
    const key = cycleKey(members);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    const error = cycleError(members);
    this.#options.report({ kind: "cycle", error, path: error.details.path });
  }

  dispose(): void {
    for (const rest of this.#resting) rest.cancel();
    this.#resting.clear();
  }

  #markStale(node: ActionNode): void {
    const { flags } = node;
    node.flags = flags | STALE;
    node.gate?.changed();
    if (!(flags & STALE)) this.#deps?.markReaders(node);
    if (flags & WATCHING) this.#enqueue(node, this.#outside);
  }

  #enqueue(node: ActionNode, outside: boolean): void {
    if (node.hold !== undefined) {
      node.flags |= RECURSED;
      return;
    }
    const resting = this.#queue.size === 0;
    this.#queue.add(node, outside);
    if (resting) this.#options.wake();
  }

  /** Something new for the node: earlier failures and turns no longer count. */
  #news(node: ActionNode, cause: ActionNode | undefined): void {
    node.tries = 0;
    if (cause === undefined) node.streak = 0;
    if (node.backoff !== undefined && (cause === undefined || node.hold === "backoff")) {
      this.#release(node.backoff);
    }
  }

  /** Counts a mark by another node after this one ran in the same pass; true when its passes are used up. */
  #spent(node: ActionNode): boolean {
    if (node.lastPass !== this.#queue.pass || node.flags & DIRTY || node.hold !== undefined)
      return false;
    if (node.streakEpoch !== this.epoch) {
      node.streakEpoch = this.epoch;
      node.streak = 0;
    }
    return ++node.streak >= this.#options.passBudget;
  }

  #cut(node: ActionNode, members: readonly ActionNode[] | undefined): void {
    if (members === undefined) {
      // Fed often, but not by itself: events kept coming while it was worked on.
      node.streak = 0;
      return;
    }
    const before = node.backoff?.releasedIn === this.epoch ? node.backoff : undefined;
    const rest = new CycleBackoff(new Set(members), before);
    this.cuts++;
    this.#resting.add(rest);
    for (const member of members) {
      if (member.backoff !== undefined && member.backoff !== rest) this.#release(member.backoff);
      this.#queue.remove(member);
      member.backoff = rest;
      member.hold = "backoff";
      if (member.flags & STALE) member.flags |= RECURSED;
    }
    this.cycle(members);
    rest.rest(this.#options.clock, () => {
      rest.releasedIn = this.epoch;
      this.#letGo(rest);
    });
  }

  /** Ends a rest for good: the next one begins at the first delay again. */
  #release(rest: CycleBackoff): void {
    rest.cancel();
    this.#letGo(rest);
    for (const member of rest.members) if (member.backoff === rest) member.backoff = undefined;
  }

  #letGo(rest: CycleBackoff): void {
    if (!this.#resting.delete(rest)) return;
    for (const member of rest.members) {
      if (member.backoff !== rest) continue;
      member.streak = 0;
      if (member.hold === "backoff") this.unhold(member);
    }
  }
}

function isPlain(node: ActionNode): boolean {
  const marks = node.flags & (STALE | RUNNING | RECURSED);
  return marks === 0 && node.backoff === undefined && node.gate === undefined;
}
