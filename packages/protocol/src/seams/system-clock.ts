/*
 * The one file of the project with the real clock and real timers. It reaches them through
 * `globalThis`, because the same file runs in browsers, workers and Node, and no global of one of
 * them is in the compiler's library here.
 */

/** A handle on something scheduled. Cancelling twice, or after it fired, does nothing. */
export interface Cancellable {
  cancel(): void;
}

/**
 * Time as a parameter (architecture.md, "Seams"). Whoever needs the time or a timer takes a `Clock`;
 * {@link systemClock} is the only implementation on real timers.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. May jump, in both directions. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back. */
  monotonic(): number;
  /** Calls `fn` once, `ms` or more milliseconds from now. Any finite delay is allowed. */
  timer(ms: number, fn: () => void): Cancellable;
  /** Calls `fn` in a macrotask of its own: after every pending microtask, in the order of the calls. */
  immediate(fn: () => void): Cancellable;
}

/** The greatest delay that `setTimeout` takes; a greater one fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

interface MessagePortLike {
  addEventListener(type: "message", listener: () => void): void;
  start(): void;
  postMessage(message: unknown): void;
}

interface HostGlobals {
  readonly setTimeout: (fn: () => void, ms: number) => unknown;
  readonly clearTimeout: (handle: unknown) => void;
  readonly setImmediate?: (fn: () => void) => unknown;
  readonly MessageChannel?: new () => {
    readonly port1: MessagePortLike;
    readonly port2: MessagePortLike;
  };
  readonly performance?: { now(): number };
}

const host = globalThis as unknown as HostGlobals;

/** Chains delays longer than {@link MAX_TIMEOUT_MS}. */
function startTimer(ms: number, fn: () => void): Cancellable {
  let handle: unknown;
  const arm = (left: number): void => {
    const step = Math.min(left, MAX_TIMEOUT_MS);
    handle = host.setTimeout(() => (left > step ? arm(left - step) : fn()), step);
  };
  arm(Math.max(0, ms));
  return { cancel: () => host.clearTimeout(handle) };
}

/** A browser's `setTimeout(0)` is clamped to 4 ms when nested; a message is not. */
function messageTasks(channel: {
  readonly port1: MessagePortLike;
  readonly port2: MessagePortLike;
}): (fn: () => void) => void {
  const queue: (() => void)[] = [];
  channel.port1.addEventListener("message", () => queue.shift()?.());
  channel.port1.start();
  return (fn) => {
    queue.push(fn);
    channel.port2.postMessage(undefined);
  };
}

/**
 * How a macrotask is started on a host: `setImmediate` where there is one, else a message to
 * oneself, else a timeout of 0. Exported for the tests of the three ways.
 */
export function macrotaskStarter(globals: Partial<HostGlobals>): (fn: () => void) => void {
  const { setImmediate: immediate, MessageChannel: Channel, setTimeout: timeout } = globals;
  if (immediate !== undefined) return (fn) => void immediate(fn);
  if (Channel !== undefined) return messageTasks(new Channel());
  return (fn) => void timeout?.(fn, 0);
}

let starter: ((fn: () => void) => void) | undefined;

function startImmediate(fn: () => void): Cancellable {
  let live = true;
  // Made on first use: an idle MessageChannel would keep a process alive that only imports this.
  starter ??= macrotaskStarter(host);
  starter(() => {
    if (live) fn();
  });
  return { cancel: () => void (live = false) };
}

/**
 * The real clock. `timer` chains delays beyond 2^31-1 ms; `immediate` is a real macrotask
 * (`setImmediate`, else `MessageChannel`, else `setTimeout` 0).
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => host.performance?.now() ?? Date.now(),
  timer: startTimer,
  immediate: startImmediate,
};
