import type { GateName } from "@tidemark/protocol";
import type { Action, ActionOf } from "../model/action.js";
import type { Configuration } from "../model/configuration.js";
import type { ModelState } from "../model/state.js";
import { isPlayable } from "./playable.js";
import { type Scene, scenesOf } from "./scenes.js";
import {
  CUT_MS,
  DEFERRED_MS,
  LEASE_MS,
  type Orders,
  RENEWED_MS,
  type Script,
  type ScriptStep,
  UNIT_MS,
} from "./step.js";
import { eventAt, named, type Stop, stopOf } from "./stops.js";
import { isBy, type Window, windowsOf } from "./windows.js";

/**
 * Writes a way of the model as a script. What people, time and faults do is done as the way has it; what a process does
 * by itself it does by itself, held at the gate behind which the next of those is to meet it.
 *
 * Undefined where no real system can be led that way.
 */
export function writeScript(
  situation: string,
  configuration: Configuration,
  path: readonly Action[],
): Script | undefined {
  const scenes = scenesOf(path);
  if (scenes === undefined || !scenes.every((scene, at) => isPlayable(scene, scenes.slice(0, at))))
    return undefined;
  return { situation, configuration, steps: new Writer(configuration, scenes).write() };
}

/** Where a process stands: held at a gate, in a handler that waits, or both while a wave of it commits. */
interface Standing {
  gate?: GateName | undefined;
  /** The stream of the event whose handler waits. */
  handler?: string | undefined;
}

class Writer {
  readonly #configuration: Configuration;
  readonly #windows: readonly Window[];
  readonly #steps: ScriptStep[] = [];
  readonly #standing = new Map<string, Standing>();
  /** Processes whose renewals are held back. */
  readonly #late = new Set<string>();
  #starting: string | undefined;
  /** Events whose handlers wait. */
  readonly #waiting = new Set<string>();

  constructor(configuration: Configuration, scenes: readonly Scene[]) {
    this.#configuration = configuration;
    this.#windows = windowsOf(scenes);
    for (const window of this.#windows) {
      for (const name of Object.keys(window.end.processes)) {
        const handler = stopOf(window, name)?.handler;
        if (handler) this.#waiting.add(handler.event);
      }
    }
  }

  write(): readonly ScriptStep[] {
    for (const window of this.#windows) this.#write(window);
    return this.#steps;
  }

  #write(window: Window): void {
    const { own, end } = window;
    const names = Object.keys(end.processes);
    const stops = new Map<string, Stop>();
    for (const name of names) {
      const stop = stopOf(window, name);
      if (stop !== undefined && this.#moves(window, name)) stops.set(name, stop);
    }
    for (const [process, stop] of stops) this.#hold(process, stop);
    for (const { action, before } of own) this.#fault(action, before);
    this.#lead(window);
    this.#news(own);
    for (const name of names) this.#goOn(window, name);
    for (const [process, stop] of stops) this.#meet(process, stop);
  }

  #hold(process: string, { gate, event, after }: Stop): void {
    if (after !== undefined) this.#add({ do: "hold", process, gate: "seal:before", event: after });
    else if (gate !== undefined) this.#add({ do: "hold", process, gate, ...named(event) });
  }

  #meet(process: string, { gate, after, handler }: Stop): void {
    const standing = this.#standingOf(process);
    if (gate !== undefined && after !== undefined) {
      this.#add({ do: "reached", process, gate: "seal:before" });
      this.#add({ do: "hold", process, gate });
      this.#add({ do: "release", process, gate: "seal:before" });
    }
    if (gate !== undefined) this.#add({ do: "reached", process, gate });
    standing.gate = gate ?? standing.gate;
    standing.handler = handler?.stream ?? standing.handler;
  }

  /** Whether a process leaves where it stands, or rests nowhere and is moved by the news. */
  #moves({ lead, own }: Window, name: string): boolean {
    const acts = own.some(({ action }) => isBy(action, name));
    const led = isBy(lead.action, name) && lead.action.do !== "renew";
    const standing = this.#standingOf(name);
    return acts || led || (standing.gate === undefined && standing.handler === undefined);
  }

  /** Lets a process go from where it stands. */
  #goOn({ own }: Window, process: string): void {
    const standing = this.#standingOf(process);
    const acts = own.filter(({ action }) => isBy(action, process));
    if (acts.length > 0 && standing.gate !== undefined) {
      this.#add({ do: "release", process, gate: standing.gate });
      standing.gate = undefined;
    }
    if (acts.some(({ action }) => action.do === "drop"))
      this.#add({ do: "advance", ms: DEFERRED_MS });
    for (const { action, before } of acts) {
      const running = before.processes[process]?.tenure?.running;
      if (action.do !== "end" || running === undefined || !this.#waits(running.event)) continue;
      this.#add({ do: "let", stream: running.stream });
      standing.handler = undefined;
    }
  }

  /** What fails on the way. */
  #fault(action: Action, before: ModelState): void {
    if (action.do === "abort") {
      const commits = before.processes[action.process]?.tenure?.closing !== undefined;
      const gate = commits ? "wave:before-commit" : "feed:before-apply";
      this.#add({ do: "fail", process: action.process, gate });
    }
    if (action.do !== "giveBack") return;
    const { process } = action;
    const tenure = before.processes[process]?.tenure;
    const event = eventAt(before, tenure?.running?.pos ?? tenure?.queue[0]);
    const gate = tenure?.running === undefined ? "preflight:before" : "seal:before";
    this.#add({ do: "fail", process, gate, ...named(event) });
  }

  /** A tenure that fails outside of a commit fails as it takes in what others did: somebody does something. */
  #news(own: readonly Scene[]): void {
    const failing = own.find(({ action }) => action.do === "abort");
    if (failing === undefined || !("process" in failing.action)) return;
    const tenure = failing.before.processes[failing.action.process]?.tenure;
    if (tenure?.closing === undefined) this.#add({ do: "write", stream: "x" });
  }

  /** What comes from outside. */
  #lead({ lead: { action, before }, next }: Window): void {
    switch (action.do) {
      case "append":
        this.#append(action);
        return;
      case "write":
        this.#add({ do: "write", stream: action.races[0] ?? "x" });
        return;
      case "tick":
        this.#tick(before);
        return;
      case "steal":
        this.#add({ do: "steal", ms: LEASE_MS });
        return;
      case "compact":
        this.#add({ do: "compact" });
        return;
      case "close":
        this.#add({ do: "advance", ms: CUT_MS + 1 });
        return;
      default:
        this.#befall(action, next?.action);
    }
  }

  /** What befalls a process. */
  #befall(action: Action, next: Action | undefined): void {
    switch (action.do) {
      case "start":
        this.#start(action.process, next);
        return;
      case "acquire":
        this.#ask(action.process);
        return;
      case "renew":
        this.#renew(action.process);
        return;
      case "crash":
        this.#standing.delete(action.process);
        this.#late.delete(action.process);
        this.#add({ do: "crash", process: action.process });
        return;
      case "suspend":
        this.#add({ do: "freeze", process: action.process });
        return;
      case "resume":
        this.#add({ do: "thaw", process: action.process });
        return;
      case "release":
        this.#add({ do: "leave", process: action.process });
        return;
    }
  }

  /** One that starts over a backlog asks for the lease at once: what is to hold it then is set before. */
  #start(process: string, next: Action | undefined): void {
    if (next?.do === "acquire" && next.process === process) this.#starting = process;
    else this.#add({ do: "start", process });
  }

  #ask(process: string): void {
    if (this.#starting === process) this.#add({ do: "start", process });
    this.#starting = undefined;
    this.#add({ do: "ask", process });
  }

  /** One that is not held back comes when it is due. */
  #renew(process: string): void {
    if (this.#late.delete(process)) {
      this.#add({ do: "release", process, gate: "lease:before-renew" });
    } else this.#add({ do: "advance", ms: RENEWED_MS });
  }

  #append({ stream, event, admitted }: ActionOf<"append">): void {
    this.#add({ do: "append", stream, event, orders: this.#ordersOf(event), refused: !admitted });
  }

  #ordersOf(event: string): Orders {
    const { throws = [], cascades = {} } = this.#configuration;
    const sent = cascades[event]?.event;
    return {
      ...(this.#waits(event) ? { waits: true } : {}),
      ...(throws.includes(event) ? { throws: true } : {}),
      ...(sent === undefined ? {} : { sends: this.#ordersOf(sent) }),
    };
  }

  /** What an event sends is known by another id at each attempt. */
  #waits(event: string): boolean {
    return [...this.#waiting].some((each) => baseOf(each) === baseOf(event));
  }

  /** Whoever is up and believes renews late: its renewal is held back until the way has it. */
  #tick(before: ModelState): void {
    for (const [process, { life, believes }] of Object.entries(before.processes)) {
      if (life !== "alive" || !believes || this.#late.has(process)) continue;
      this.#late.add(process);
      this.#add({ do: "hold", process, gate: "lease:before-renew" });
    }
    this.#add({ do: "advance", ms: UNIT_MS });
  }

  #standingOf(process: string): Standing {
    const known = this.#standing.get(process) ?? {};
    this.#standing.set(process, known);
    return known;
  }

  #add(step: ScriptStep): void {
    this.#steps.push(step);
  }
}

function baseOf(event: string): string {
  return event.split("@")[0] ?? event;
}
