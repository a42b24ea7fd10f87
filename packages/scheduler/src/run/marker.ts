import type { Clock } from "@tidemark/protocol";
import type { Dependencies } from "../demand/dependencies.js";
import { DIRTY, PENDING, RECURSED, RUNNING, STALE, WATCHING } from "../graph/node.js";
import { CycleBackoff } from "../settle/cycle-backoff.js";
import { cycleError, cycleKey, cycleThrough } from "../settle/cycle-path.js";
import type { PassQueue } from "../settle/pass-queue.js";
import type { SchedulerReport } from "../types.js";
import type { ActionNode } from "./action-node.js";
import type { Restraint } from "./restraint.js";

/** With none of these but the last, a node is current, live and at rest. */
const MARKS = STALE | RUNNING | RECURSED | WATCHING;

export interface MarkerOptions {
  readonly clock: Clock;
  readonly passBudget: number;
  readonly report: (report: SchedulerReport) => void;
  /** There is something to run that was not there before. */
  readonly wake: () => void;
  /** What a settle waits for may be gone. */
  readonly eased: () => void;
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
  /** Some nodes that are queued or run have not marked their readers yet. */
  unsent = false;
  /** Rises at every rest: counts of what happened before it no longer matter. */
  epoch = 0;
  /** Live nodes that wait for their gate. */
  gated = 0;
  cuts = 0;
  /**
   * When gates are looked at while a run is on the stack. A gate that opened in its middle would let an input move that
   * the run has read already.
   */
  instant: number | undefined;

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

  /**
   * An input of the node changed. `cause` is the node that wrote it, or undefined for the world outside. `inOrder` says
   * that what runs next is the lowest of all that is queued, and that heights tell what comes first.
   */
  dirty(node: ActionNode, cause: ActionNode | undefined, inOrder: boolean): void {
    const { flags, restraint } = node;
    if (inOrder && restraint === undefined && (flags & MARKS) === WATCHING) {
      // Current and live, as nearly all are: it is queued, and whoever reads it stands above it and comes later. So its
      // readers need no mark unless somebody looks out of order (see `Runner.sendMarks`), and most never get one.
      if (node.lastPass !== this.#queue.pass) {
        node.flags = flags | STALE;
        this.unsent = true;
        this.#addNow(node);
        return;
      }
    }
    if (flags & RUNNING) {
      // Inputs that it pulls move while it runs, and it reads them after they did. Only an outsider comes late.
      if (cause === undefined) node.flags |= STALE;
      return;
    }
    const ranAlready = node.lastPass === this.#queue.pass;
    if (cause !== undefined && node.bucket >= 0 && !ranAlready && !restraint?.backoff) {
      // Marked and queued already, as nearly all are in the middle of a settle. One that ran in this pass and waits for an
      // input that is held is queued too; what dirties it then may be its own doing, and counts.
      node.flags |= STALE;
      if (restraint !== undefined) freshen(restraint);
      return;
    }
    this.#outside = cause === undefined;
    if (cause === undefined || !restraint?.backoff?.members.has(cause)) this.#news(node, cause);
    if (cause !== undefined && this.#spent(node)) this.#cut(node, cycleThrough(node));
    this.#markStale(node);
    this.#outside = true;
  }

  /** Sends the marks that were put off, those of the runs on the stack included. */
  sendMarks(running: ActionNode | undefined): void {
    this.unsent = false;
    this.#outside = false;
    for (let node = running; node !== undefined; node = node.caller) this.#deps?.markReaders(node);
    this.#queue.eachNow((node) => this.#deps?.markReaders(node));
    this.#outside = true;
  }

  /** An outsider's change came in the middle of its run: once more, on a later pass, and not for ever. */
  late(node: ActionNode): void {
    if (this.#spent(node)) this.#cut(node, cycleThrough(node) ?? [node]);
    node.flags |= STALE;
    this.#outside = false;
    this.#deps?.markReaders(node);
    if (node.flags & WATCHING) this.#enqueue(node, false);
    this.#outside = true;
  }

  /** Ran, or was registered as current, and read something that is not current yet; if that changes, it is told. */
  pending(node: ActionNode): void {
    node.flags |= PENDING;
    this.#deps?.markReaders(node);
    if (node.flags & WATCHING) this.#enqueue(node, this.#outside);
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
    node.restrained().hold = "retry";
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
    this.unsent = false;
  }

  /** Whether the gate of a node lets it run now; else it is held until the gate wakes it. `nested`: inside a run. */
  gateOpen(node: ActionNode, nested: boolean): boolean {
    const { restraint } = node;
    if (restraint?.gate === undefined) return true;
    const now = (nested ? this.instant : undefined) ?? this.#options.clock.monotonic();
    if (nested) this.instant = now;
    const wait = restraint.gate.waitMs(now);
    if (wait <= 0) {
      // Held by a pull while it was queued: its turn has come before the gate's timer.
      if (restraint.hold === "gate") this.#ungate(restraint);
      return true;
    }
    node.flags |= RECURSED;
    if (!(node.flags & WATCHING)) return false;
    if (restraint.hold === undefined) {
      restraint.hold = "gate";
      this.gated++;
    }
    restraint.gate.arm(wait, () => this.unhold(node));
    return false;
  }

  #ungate(restraint: Restraint): void {
    this.gated--;
    restraint.hold = undefined;
    restraint.gate?.cancel();
  }

  /** Lets a held node go on. */
  unhold(node: ActionNode): void {
    const { restraint } = node;
    if (restraint !== undefined) {
      if (restraint.hold === "gate") this.#ungate(restraint);
      restraint.hold = undefined;
      restraint.gate?.cancel();
    }
    if (node.flags & STALE && node.flags & WATCHING) this.#enqueue(node, true);
    else this.unblockReaders(node);
  }

  /** Waits, if an input is held or waits itself: what it will be is not known yet. */
  isBlocked(node: ActionNode): boolean {
    let blocked = false;
    for (let edge = node.deps; edge !== undefined; edge = edge.nextDep) {
      if (!edge.port.pending) continue;
      const input = edge.port.writer;
      if (input === undefined || (input.hold === undefined && !(input.flags & RECURSED))) continue;
      input.restrained().blocks = true;
      blocked = true;
    }
    if (blocked) node.flags |= RECURSED;
    return blocked;
  }

  /** The node was held and is decided now: whoever waited for it looks again. */
  unblockReaders(node: ActionNode): void {
    const { restraint } = node;
    if (restraint?.blocks !== true) return;
    restraint.blocks = false;
    for (let port = node.ports; port !== undefined; port = port.nextPort) {
      for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
        const { reader } = edge;
        if (reader.flags & STALE && reader.flags & WATCHING) this.#enqueue(reader, true);
      }
    }
  }

  /** No longer live, or gone: nothing is queued or armed for it. */
  left(node: ActionNode): void {
    this.#queue.remove(node);
    const { restraint } = node;
    if (restraint === undefined) return;
    restraint.gate?.cancel();
    if (restraint.hold !== "gate") return;
    this.gated--;
    restraint.hold = undefined;
    this.#options.eased();
  }

  /** The node is unregistered: nobody waits for it any more. */
  forget(node: ActionNode): void {
    const rest = node.restraint?.backoff;
    if (rest !== undefined) this.#release(rest);
    this.unblockReaders(node);
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
    node.restraint?.gate?.changed();
    if (!(flags & STALE)) this.#deps?.markReaders(node);
    if (flags & WATCHING) this.#enqueue(node, this.#outside);
  }

  #enqueue(node: ActionNode, outside: boolean): void {
    if (node.restraint !== undefined && node.restraint.hold !== undefined) {
      node.flags |= RECURSED;
      return;
    }
    const resting = this.#queue.size === 0;
    this.#queue.add(node, outside);
    if (resting) this.#options.wake();
  }

  #addNow(node: ActionNode): void {
    const resting = this.#queue.size === 0;
    this.#queue.addNow(node);
    if (resting) this.#options.wake();
  }

  /** Something new for the node: earlier failures and turns no longer count. */
  #news(node: ActionNode, cause: ActionNode | undefined): void {
    const { restraint } = node;
    if (restraint === undefined) return;
    const { backoff } = restraint;
    restraint.tries = 0;
    if (cause === undefined) restraint.streak = 0;
    if (backoff !== undefined && (cause === undefined || restraint.hold === "backoff")) {
      this.#release(backoff);
    }
  }

  /** Counts a mark by another node after this one ran in the same pass; true when its passes are used up. */
  #spent(node: ActionNode): boolean {
    if (node.lastPass !== this.#queue.pass || node.flags & DIRTY || node.hold !== undefined)
      return false;
    const restraint = node.restrained();
    if (restraint.streakEpoch !== this.epoch) {
      restraint.streakEpoch = this.epoch;
      restraint.streak = 0;
    }
    return ++restraint.streak >= this.#options.passBudget;
  }

  #cut(node: ActionNode, members: readonly ActionNode[] | undefined): void {
    const own = node.restrained();
    if (members === undefined) {
      // Fed often, but not by itself: events kept coming while it was worked on.
      own.streak = 0;
      return;
    }
    const before = own.backoff?.releasedIn === this.epoch ? own.backoff : undefined;
    const rest = new CycleBackoff(new Set(members), before);
    this.cuts++;
    this.#resting.add(rest);
    for (const member of members) {
      const restraint = member.restrained();
      if (restraint.backoff !== undefined && restraint.backoff !== rest) {
        this.#release(restraint.backoff);
      }
      this.#queue.remove(member);
      if (restraint.hold === "gate") this.#ungate(restraint);
      restraint.backoff = rest;
      restraint.hold = "backoff";
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
    for (const { restraint } of rest.members) {
      if (restraint?.backoff === rest) restraint.backoff = undefined;
    }
  }

  #letGo(rest: CycleBackoff): void {
    if (!this.#resting.delete(rest)) return;
    for (const member of rest.members) {
      const { restraint } = member;
      if (restraint?.backoff !== rest) continue;
      restraint.streak = 0;
      if (restraint.hold === "backoff") this.unhold(member);
    }
  }
}

/** An input moved: earlier failures no longer count, and the node is not quiet. */
function freshen(restraint: Restraint): void {
  restraint.tries = 0;
  restraint.gate?.changed();
}
