import type { Clock } from "@tidemark/protocol";
import type { EventQueue } from "../queue/event-queue.js";
import type { ActionNode } from "../run/action-node.js";
import type { Marker } from "../run/marker.js";
import type { Runner } from "../run/runner.js";
import type { SettleResult } from "../types.js";
import type { PassQueue } from "./pass-queue.js";

/** Microtask turns that an event task gets before derivations go on beside it. */
const EVENT_TURNS = 16;

export interface SettleLoopOptions {
  readonly clock: Clock;
  readonly sliceMs: number;
  readonly yielding: boolean;
  readonly onYield: () => void;
}

type Pause = "yield" | "event" | "wait";

/**
 * Runs events first, then what is dirty and live, one step at a time; between two steps it looks at the deadline and at
 * its slice (seed 001 §3). It goes as far as it can in one go and gives up control only to yield or to wait.
 */
export class SettleLoop {
  readonly #options: SettleLoopOptions;
  readonly #events: EventQueue;
  readonly #queue: PassQueue;
  readonly #marker: Marker;
  readonly #runner: Runner;
  #wakeUp: (() => void) | undefined;
  #sliceStart = 0;
  #deadline: number | undefined;
  #stepped = false;
  #cutsBefore = 0;
  #runsBefore = 0;
  yields = 0;
  settling = false;

  constructor(
    options: SettleLoopOptions,
    events: EventQueue,
    queue: PassQueue,
    marker: Marker,
    runner: Runner,
  ) {
    this.#options = options;
    this.#events = events;
    this.#queue = queue;
    this.#marker = marker;
    this.#runner = runner;
  }

  /** Ends a wait, if there is one. */
  wake(): void {
    this.#wakeUp?.();
  }

  busy(): boolean {
    return (
      this.#queue.size > 0 ||
      this.#events.length > 0 ||
      this.#events.busy ||
      this.#marker.retrying > 0 ||
      this.#marker.gated > 0
    );
  }

  settle(deadlineAt: number | undefined): SettleResult | Promise<SettleResult> {
    this.settling = true;
    this.#deadline = deadlineAt;
    this.#stepped = false;
    this.#cutsBefore = this.#marker.cuts;
    this.#runsBefore = this.#runner.runs;
    if (this.#options.yielding) this.#sliceStart = this.#options.clock.monotonic();
    let reached: SettleResult | Pause | undefined;
    try {
      reached = this.#advance();
    } finally {
      // A pause keeps it settling; an end, and a report that threw, do not.
      this.settling = typeof reached === "string";
    }
    return typeof reached === "string" ? this.#goOn(reached) : reached;
  }

  async #goOn(first: Pause): Promise<SettleResult> {
    let pause: SettleResult | Pause = first;
    try {
      while (typeof pause === "string") {
        if (pause === "yield") await this.#yield();
        else if (pause === "event") await this.#turns();
        else await this.#wait();
        pause = this.#advance();
      }
      return pause;
    } finally {
      this.settling = false;
    }
  }

  /** Steps until something must be awaited or nothing is left. */
  #advance(): SettleResult | Pause {
    const { yielding, sliceMs, clock } = this.#options;
    const timed = yielding || this.#deadline !== undefined;
    // Each slice takes a step, however long the clock's own steps are.
    let worked = false;
    for (;;) {
      if (this.#stepped && timed) {
        const now = clock.monotonic();
        if (this.#deadline !== undefined && now >= this.#deadline && this.busy()) {
          return this.#result("deadline");
        }
        if (worked && yielding && now - this.#sliceStart >= sliceMs && this.busy()) return "yield";
      }
      if (this.#events.ready) {
        this.#stepped = worked = true;
        if (this.#events.start()) return "event";
        continue;
      }
      const node = this.#next();
      if (node !== undefined) {
        this.#stepped = worked = true;
        this.#runner.step(node);
        continue;
      }
      if (this.busy()) return this.#restless();
      this.#marker.rested();
      return this.#result(this.#marker.cuts > this.#cutsBefore ? "budget" : "idle");
    }
  }

  /** Nothing can run now, but an event task or a gate will bring something. */
  #restless(): SettleResult | Pause {
    const due = this.#deadline;
    if (due !== undefined && this.#options.clock.monotonic() >= due)
      return this.#result("deadline");
    return "wait";
  }

  #next(): ActionNode | undefined {
    const node = this.#queue.take();
    if (node !== undefined) return node;
    // The pass is over; whatever comes from now on belongs to another.
    this.#marker.turn();
    return this.#queue.take();
  }

  #result(state: SettleResult["state"]): SettleResult {
    return { state, ran: this.#runner.runs - this.#runsBefore };
  }

  async #yield(): Promise<void> {
    this.yields++;
    this.#options.onYield();
    await this.#macrotask();
    this.#sliceStart = this.#options.clock.monotonic();
  }

  #macrotask(): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.immediate(resolve));
  }

  /** An event's own work comes before derivations: it gets its microtasks, and when serving a macrotask. */
  async #turns(): Promise<void> {
    for (let turn = 0; turn < EVENT_TURNS && this.#events.busy; turn++) await undefined;
    if (this.#events.busy && this.#options.yielding) await this.#yield();
  }

  async #wait(): Promise<void> {
    const { clock } = this.#options;
    await new Promise<void>((resolve) => {
      const timer =
        this.#deadline === undefined
          ? undefined
          : clock.timer(this.#deadline - clock.monotonic(), resolve);
      this.#wakeUp = () => {
        timer?.cancel();
        resolve();
      };
    });
    this.#wakeUp = undefined;
    if (this.#options.yielding) this.#sliceStart = clock.monotonic();
  }
}
