import type { EventId, GateName, GatePoint, Gates, SpaceId } from "@tidemark/protocol";

/** What a process does on reaching a gate that somebody set. */
type Effect =
  | { readonly kind: "hold" }
  | { readonly kind: "crash" }
  | { readonly kind: "fail"; readonly error: () => Error };

/** A gate that was set: it takes the next `times` arrivals that match. */
interface Setting {
  readonly gate: GateName;
  readonly space: SpaceId | undefined;
  readonly event: EventId | undefined;
  /** The only process whose arrivals it takes. */
  readonly process: string | undefined;
  readonly effect: Effect;
  /** The process that it was set on; without one, it waits for the next process to start. */
  owner: string | undefined;
  remaining: number;
}

interface Waiter {
  readonly gate: GateName;
  readonly space: SpaceId;
  readonly process: string;
  readonly go: () => void;
}

/** Which arrivals a setting takes. */
export interface GateTarget {
  readonly space?: SpaceId | undefined;
  readonly event?: EventId | undefined;
  readonly process?: string | undefined;
  readonly times?: number | undefined;
}

/** What an arrival at a gate met: nothing, or what was set there. `left`: who was held goes on. */
export type GateEncounter = "pass" | "hold" | "fail" | "crash" | "left";

/** Told of every arrival of a running process, before anything comes of it. */
export type GateWatcher = (
  gate: GateName,
  met: GateEncounter,
  at: GatePoint & { readonly process: string },
) => void;

/**
 * The gates of every server process of a world. An arrival is taken by the first setting that matches it, in the order
 * in which they were made; an arrival that none matches passes on at once.
 */
export class WorldGates {
  readonly #settings: Setting[] = [];
  readonly #waiters: Waiter[] = [];
  readonly #running = new Map<string, () => void>();
  readonly #watcher: GateWatcher | undefined;
  #arrived: ((waiter: Waiter) => void) | undefined;

  constructor(watcher?: GateWatcher) {
    this.#watcher = watcher;
  }

  /** The gates of one process. `crash` is called, synchronously, when it reaches a gate that kills it. */
  forProcess(name: string, crash: () => void): Gates {
    this.#running.set(name, crash);
    for (const setting of this.#settings) setting.owner ??= name;
    // What promises of a dead process still reach on the real machine, they reach for ever, also once a successor has its name.
    const pass: Gates["pass"] = (gate, at) =>
      this.#running.get(name) === crash ? this.#pass(name, gate, at) : never();
    return { pass };
  }

  /** The process is gone: what waited at its gates never goes on, and what was set on it is void. */
  processEnded(name: string): void {
    this.#running.delete(name);
    removeWhere(this.#waiters, (waiter) => waiter.process === name);
    const heir = this.#running.keys().next().value;
    for (const setting of this.#settings) {
      if (setting.owner === name && heir !== undefined) setting.owner = heir;
    }
    removeWhere(this.#settings, (setting) => setting.owner === name);
  }

  hold(gate: GateName, target: GateTarget): void {
    this.#set(gate, target, { kind: "hold" });
  }

  fail(gate: GateName, target: GateTarget, error: () => Error): void {
    this.#set(gate, target, { kind: "fail", error });
  }

  crashAt(gate: GateName, target: GateTarget): void {
    this.#set(gate, target, { kind: "crash" });
  }

  /** Whether somebody waits at the gate, or that process. */
  isReached(gate: GateName, space?: SpaceId, process?: string): boolean {
    return this.#find(gate, space, process) !== undefined;
  }

  /** Lets the one that has waited longest go on. Without a waiter, the next hold that was set is taken back. */
  release(gate: GateName, space?: SpaceId, process?: string): boolean {
    const waiter = this.#find(gate, space, process);
    if (waiter) {
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.go();
      return true;
    }
    const setting = this.#settings.find(
      (each) =>
        each.gate === gate &&
        each.effect.kind === "hold" &&
        (!space || each.space === space) &&
        (!process || each.process === process),
    );
    if (setting) this.#spend(setting);
    return setting !== undefined;
  }

  /** Resolves at the next arrival at a held gate, whichever it is: for whoever waits for one. */
  nextArrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#arrived = () => resolve();
    });
  }

  get waiting(): number {
    return this.#waiters.length;
  }

  /** The gates at which somebody waits, the longest wait first. */
  get waitingAt(): readonly GateName[] {
    return this.#waiters.map(({ gate }) => gate);
  }

  /** Takes back every setting that nobody has met. Who waits goes on waiting. */
  clear(): void {
    this.#settings.length = 0;
  }

  #set(gate: GateName, target: GateTarget, effect: Effect): void {
    this.#settings.push({
      gate,
      space: target.space,
      event: target.event,
      process: target.process,
      effect,
      owner: target.process ?? this.#running.keys().next().value,
      remaining: target.times ?? 1,
    });
  }

  #pass(process: string, gate: GateName, at: GatePoint): Promise<void> | undefined {
    const setting = this.#settings.find((each) => matches(each, gate, { ...at, process }));
    this.#watcher?.(gate, setting?.effect.kind ?? "pass", { ...at, process });
    if (!setting) return undefined;
    this.#spend(setting);
    switch (setting.effect.kind) {
      case "fail":
        return Promise.reject(setting.effect.error());
      case "crash":
        this.#running.get(process)?.();
        return new Promise(() => undefined);
      case "hold":
        return new Promise((resolve) => {
          const go = (): void => {
            this.#watcher?.(gate, "left", { ...at, process });
            resolve();
          };
          const waiter = { gate, space: at.space, process, go };
          this.#waiters.push(waiter);
          this.#arrived?.(waiter);
        });
    }
  }

  #spend(setting: Setting): void {
    setting.remaining -= 1;
    if (setting.remaining <= 0) this.#settings.splice(this.#settings.indexOf(setting), 1);
  }

  #find(gate: GateName, space?: SpaceId, process?: string): Waiter | undefined {
    return this.#waiters.find(
      (each) =>
        each.gate === gate &&
        (!space || each.space === space) &&
        (!process || each.process === process),
    );
  }
}

/** A promise of its own each time: one that all shared would hold every world that ever waited for it. */
function never(): Promise<void> {
  return new Promise(() => undefined);
}

function matches(
  setting: Setting,
  gate: GateName,
  at: GatePoint & { readonly process: string },
): boolean {
  return (
    setting.gate === gate &&
    (setting.process === undefined || setting.process === at.process) &&
    (setting.space === undefined || setting.space === at.space) &&
    (setting.event === undefined || setting.event === at.event)
  );
}

function removeWhere<T>(items: T[], goes: (item: T) => boolean): void {
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (item !== undefined && goes(item)) items.splice(i, 1);
  }
}
