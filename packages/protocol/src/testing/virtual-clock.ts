import { type Cancellable, type Clock, systemClock } from "../seams/system-clock.js";
import { type Timer, TimerQueue } from "./timer-queue.js";

/** Options of a {@link VirtualClock}. */
export interface VirtualClockOptions {
  /** Wall time at the start, ms since the epoch. Default: 2025-01-01T00:00:00Z. */
  readonly start?: number;
  /** How many immediates may run without time moving before a drain throws. Default 1,000,000. */
  readonly maxImmediates?: number;
}

/** Options of a child clock. */
export interface ChildClockOptions {
  /** For messages and traces. */
  readonly name?: string;
  /** Added to the parent's wall time, ms. */
  readonly wallOffset?: number;
}

interface Immediate {
  readonly owner: ClockOwner;
  readonly fn: () => void;
  cancelled: boolean;
}

/** Whose callback it is: a process that is dead or suspended runs nothing. */
export interface ClockOwner {
  readonly state: "running" | "suspended" | "dead";
}

const INERT: Cancellable = { cancel: () => undefined };
/** 2025-01-01T00:00:00Z, in ms since the epoch. */
const DEFAULT_START = 1_735_689_600_000;
const ROOT: ClockOwner = { state: "running" };

/**
 * Time that moves only when a test says so. Timers fire in the order in which they are due, those due
 * at the same instant in the order in which they were set; between any two callbacks every microtask
 * and every immediate runs. One real macrotask is awaited after each callback, so promise chains of
 * any length are done.
 *
 * What a callback throws rejects the call that ran it.
 */
export class VirtualClock implements Clock {
  readonly #start: number;
  readonly #maxImmediates: number;
  readonly #timers = new TimerQueue<ClockOwner>();
  readonly #immediates: Immediate[] = [];
  #elapsed = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: VirtualClockOptions = {}) {
    this.#start = options.start ?? DEFAULT_START;
    this.#maxImmediates = options.maxImmediates ?? 1_000_000;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  timer(ms: number, fn: () => void): Cancellable {
    return this.timerOf(ROOT, ms, fn);
  }

  immediate(fn: () => void): Cancellable {
    return this.immediateOf(ROOT, fn);
  }

  /** Moves time by `ms`, firing what falls due on the way. */
  advance(ms: number): Promise<void> {
    return this.#exclusive(() => this.#advanceTo(this.#elapsed + ms));
  }

  /**
   * Moves time to the next timer, if it is due within `ms`, and fires what is due then. Resolves to
   * whether there was one.
   */
  advanceToNextTimer(ms = Number.POSITIVE_INFINITY): Promise<boolean> {
    return this.#exclusive(async () => {
      await this.#drainNow();
      const due = this.#timers.nextDue(isRunnable);
      if (due === undefined || due > this.#elapsed + ms) return false;
      await this.#advanceTo(Math.max(due, this.#elapsed));
      return true;
    });
  }

  /** Runs immediates and microtasks until there are none. Time stands still; overdue timers stay. */
  drain(): Promise<void> {
    return this.#exclusive(() => this.#drainNow());
  }

  /** Runs the immediates that are queued now, with the microtasks between; resolves to their number. */
  runImmediates(): Promise<number> {
    return this.#exclusive(async () => {
      const queued = this.#immediates.filter((task) => task.owner.state === "running").length;
      let ran = 0;
      while (ran < queued && (await this.#runOneImmediate())) ran += 1;
      return ran;
    });
  }

  /** Moves time by `ms` without firing anything: a computation that took that long. */
  spend(ms: number): void {
    this.#elapsed += ms;
  }

  /** Number of timers set and not fired, those of suspended processes included. */
  pendingTimers(): number {
    return this.#timers.count((owner) => owner.state !== "dead");
  }

  /** Number of immediates queued and not run. */
  pendingImmediates(): number {
    return this.#immediates.filter((task) => !task.cancelled && task.owner.state !== "dead").length;
  }

  /** Milliseconds until the next timer that can fire (0 when it is overdue), if there is one. */
  nextTimerIn(): number | undefined {
    const due = this.#timers.nextDue(isRunnable);
    return due === undefined ? undefined : Math.max(0, due - this.#elapsed);
  }

  /** The clock of one process: the same time, an offset of its own, and a death of its own. */
  child(options: ChildClockOptions = {}): ChildClock {
    return new ChildClock(this, options);
  }

  /** Sets a timer on behalf of a process. */
  timerOf(owner: ClockOwner, ms: number, fn: () => void): Cancellable {
    if (owner.state === "dead") return INERT;
    const timer = this.#timers.add(this.#elapsed + Math.max(0, ms), owner, fn);
    return { cancel: () => this.#timers.remove(timer) };
  }

  /** Queues an immediate on behalf of a process. */
  immediateOf(owner: ClockOwner, fn: () => void): Cancellable {
    if (owner.state === "dead") return INERT;
    const task: Immediate = { owner, fn, cancelled: false };
    this.#immediates.push(task);
    return { cancel: () => void (task.cancelled = true) };
  }

  async #advanceTo(target: number): Promise<void> {
    await this.#drainNow();
    for (;;) {
      const timer = this.#timers.takeDue(target, isRunnable);
      if (timer === undefined) break;
      await this.#fire(timer);
    }
    // A callback that spent time may have gone past the target already.
    this.#elapsed = Math.max(this.#elapsed, target);
    await this.#drainNow();
  }

  async #fire(timer: Timer<ClockOwner>): Promise<void> {
    this.#elapsed = Math.max(this.#elapsed, timer.due);
    timer.fn();
    await this.#drainNow();
  }

  async #drainNow(): Promise<void> {
    await realMacrotask();
    let ran = 0;
    while (await this.#runOneImmediate()) {
      ran += 1;
      if (ran > this.#maxImmediates) {
        throw new Error(
          `${ran} immediates ran without time moving: something queues itself for ever`,
        );
      }
    }
  }

  async #runOneImmediate(): Promise<boolean> {
    const task = this.#takeImmediate();
    if (task === undefined) return false;
    task.fn();
    await realMacrotask();
    return true;
  }

  /** The first immediate whose owner runs; cancelled and dead ones on the way are dropped. */
  #takeImmediate(): Immediate | undefined {
    for (let at = 0; at < this.#immediates.length;) {
      const task = this.#immediates[at];
      if (task === undefined) break;
      const gone = task.cancelled || task.owner.state === "dead";
      if (gone || task.owner.state === "running") this.#immediates.splice(at, 1);
      else at += 1;
      if (!gone && task.owner.state === "running") return task;
    }
    return undefined;
  }

  /** Two callers that move time take turns: neither sees the other's half-fired timers. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** A process's view of a {@link VirtualClock}. */
export class ChildClock implements Clock {
  readonly name: string;
  readonly #root: VirtualClock;
  readonly #owner: { state: "running" | "suspended" | "dead" } = { state: "running" };
  #wallOffset: number;

  constructor(root: VirtualClock, options: ChildClockOptions) {
    this.#root = root;
    this.name = options.name ?? "child";
    this.#wallOffset = options.wallOffset ?? 0;
  }

  now(): number {
    return this.#root.now() + this.#wallOffset;
  }

  monotonic(): number {
    return this.#root.monotonic();
  }

  timer(ms: number, fn: () => void): Cancellable {
    return this.#root.timerOf(this.#owner, ms, fn);
  }

  immediate(fn: () => void): Cancellable {
    return this.#root.immediateOf(this.#owner, fn);
  }

  get alive(): boolean {
    return this.#owner.state !== "dead";
  }

  get suspended(): boolean {
    return this.#owner.state === "suspended";
  }

  /** Sets the process's wall clock off by `ms`. Timers go by elapsed time and do not move. */
  setWallOffset(ms: number): void {
    this.#wallOffset = ms;
  }

  /** The process stands still: its callbacks wait, and overdue timers fire in order after `resume`. */
  suspend(): void {
    if (this.alive) this.#owner.state = "suspended";
  }

  resume(): void {
    if (this.alive) this.#owner.state = "running";
  }

  /** The process dies: none of its callbacks runs any more, and it can set no new ones. */
  kill(): void {
    this.#owner.state = "dead";
  }
}

function isRunnable(owner: ClockOwner): boolean {
  return owner.state === "running";
}

/** Every microtask, however many it takes, is done before the next real macrotask. */
function realMacrotask(): Promise<void> {
  return new Promise((resolve) => void systemClock.immediate(resolve));
}
