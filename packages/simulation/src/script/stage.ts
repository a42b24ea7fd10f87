import {
  type EventId,
  type GateName,
  isTidemarkError,
  type JsonValue,
  type SpaceId,
} from "@tidemark/protocol";
import { parseScenario } from "../scenario/file.js";
import { Recorder } from "../trace/recorder.js";
import { TraceCheck } from "../trace/trace-check.js";
import { gateError } from "../world/gate-errors.js";
import type { ScenarioClient } from "../world/client.js";
import { World } from "../world/world.js";
import { worldFile } from "./board.js";
import { IDLE_PARK_MS, LEASE_MS, type Orders, type Script, type ScriptStep } from "./step.js";

const SPACE = "A";
const PIECE = "A/p";
/** Longer than a back-off between two activations. */
const ANSWER_MS = 2_000;
/** A lease runs out, and then another that it gave way to, and back-offs behind them. */
const END_ROUNDS = 4;
const SEED = 1;
/** More than what handlers count up in between. */
const WRITTEN_APART = 100;

/** What came of a script. */
export interface Played {
  readonly script: Script;
  /** Where the model and the system part: nothing, where all is well. */
  readonly departures: readonly string[];
  /** What the script asked for and did not get. */
  readonly missed: readonly string[];
  readonly transitions: ReadonlyMap<string, number>;
  readonly situations: ReadonlySet<string>;
  /** What was not covered in the end; empty where all is well. */
  readonly left: string;
}

/** Plays a script to the real parts under virtual time, with the model stepped along. */
export async function play(script: Script): Promise<Played> {
  const stage = new Stage(script);
  try {
    return await stage.play();
  } finally {
    await stage.clear();
  }
}

/** Those who talk to one process. What its own sender writes over an event does not race it (seed 001 §3d). */
interface Visitors {
  readonly sender: string;
  readonly writer: string;
}

class Stage {
  readonly #script: Script;
  readonly #world: World;
  readonly #check: TraceCheck;
  readonly #departures: string[] = [];
  readonly #missed: string[] = [];
  /** Who has a session with a process, in its present life. */
  readonly #visitors = new Map<string, Visitors>();
  readonly #frozen = new Set<string>();
  #lives = 0;
  #written = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#check = new TraceCheck(
      () => isDemanded(script),
      (_space, text) => this.#departures.push(text),
    );
    // The recorder is told of nothing before the world has a clock.
    const later: { recorder?: Recorder } = {};
    const tell = (): Recorder => later.recorder as Recorder;
    this.#world = new World(parseScenario(script.situation, worldFile(script.configuration)), {
      transport: "loopback",
      seed: SEED,
      trace: () => undefined,
      watch: {
        gate: (...seen) => tell().gate(...seen),
        store: (...seen) => tell().store(...seen),
        process: (...seen) => tell().process(...seen),
        handlers: (process) => tell().handlers(process),
        theft: (...seen) => tell().theft(...seen),
      },
    });
    later.recorder = new Recorder(this.#world.clock, this.#check.see);
  }

  async play(): Promise<Played> {
    await this.#world.begin();
    for (const [at, step] of this.#script.steps.entries()) {
      try {
        await this.#do(step);
      } catch (error) {
        if (!isTidemarkError(error) && !(error instanceof Error)) throw error;
        this.#missed.push(`${at + 1}. ${JSON.stringify(step)}: ${error.message}`);
      }
    }
    const left = await this.#end();
    return {
      script: this.#script,
      departures: this.#departures,
      missed: this.#missed,
      transitions: this.#check.taken,
      situations: this.#check.situations,
      left,
    };
  }

  clear(): Promise<void> {
    return this.#world.end();
  }

  get #space(): SpaceId {
    return this.#world.places.space(SPACE);
  }

  async #do(step: ScriptStep): Promise<void> {
    const world = this.#world;
    switch (step.do) {
      case "start":
        return world.startProcess(step.process);
      case "ask":
        return this.#ask(step.process);
      case "hold":
        return world.gates.hold(step.gate, this.#target(step));
      case "fail":
        return world.gates.fail(step.gate, this.#target(step), () => gateError("io", false));
      case "reached":
        return this.#reached(step);
      case "release":
        world.gates.release(step.gate, this.#space, step.process);
        return world.drain();
      case "append":
        return this.#append(step);
      case "write":
        return this.#write(step.stream);
      case "let":
        await world.drain();
        world.let(step.stream);
        return world.drain();
      case "advance":
        return world.advance(step.ms);
      case "steal":
        world.leases.steal(SPACE, step.ms);
        return world.drain();
      case "crash":
        this.#goodbye(step.process);
        world.crash(step.process);
        return world.drain();
      case "freeze":
        this.#frozen.add(step.process);
        return world.freeze(step.process);
      case "thaw":
        this.#frozen.delete(step.process);
        return world.thaw(step.process);
      case "leave":
        this.#goodbye(step.process);
        return world.advance(IDLE_PARK_MS + 1);
      case "compact":
        world.compact(SPACE);
        return world.drain();
    }
  }

  #target({ process, event }: { readonly process: string; readonly event?: string }) {
    return {
      space: this.#space,
      process,
      ...(event === undefined ? {} : { event: event as EventId }),
    };
  }

  async #reached({
    process,
    gate,
  }: Pick<Extract<ScriptStep, { gate: GateName }>, "process" | "gate">): Promise<void> {
    const reached = await this.#world.reach(
      () => this.#world.gates.isReached(gate, this.#space, process),
      ANSWER_MS,
    );
    if (!reached) throw new Error("nobody came");
  }

  async #ask(process: string): Promise<void> {
    if (this.#visitors.has(process)) {
      this.#world.requireProcess(process).host?.warm(this.#space);
      return this.#world.drain();
    }
    const session = `${process}-${(this.#lives += 1)}`;
    const visitor = { sender: `sender-${session}`, writer: `writer-${session}` };
    this.#visitors.set(process, visitor);
    for (const name of [visitor.sender, visitor.writer]) {
      this.#world.connectClient(name, { user: "alice", session: name });
    }
    return this.#world.drain();
  }

  #goodbye(process: string): void {
    const { sender, writer } = this.#visitors.get(process) ?? {};
    for (const name of [sender, writer]) if (name) this.#world.client(name).drop();
    this.#visitors.delete(process);
  }

  /** Somebody whose process admits: not one that stands still. */
  #client(who: keyof Visitors): ScenarioClient {
    const [, visitors] =
      [...this.#visitors].find(
        ([process]) => !this.#frozen.has(process) && this.#world.process(process)?.alive === true,
      ) ?? [];
    if (visitors === undefined) throw new Error("there is no process that admits anything");
    return this.#world.client(visitors[who]);
  }

  /** Another value each time: an equal one is no change. */
  async #write(stream: string): Promise<void> {
    const cell = this.#world.places.place(`${PIECE}/of-${stream}`);
    const written = this.#client("writer").write(cell, (this.#written += WRITTEN_APART), []);
    await this.#world.until(written, "the write");
  }

  async #append(step: Extract<ScriptStep, { do: "append" }>): Promise<void> {
    const { id } = this.#world.places.stream(`${PIECE}/${step.stream}`);
    const entry = { eventId: step.event, payload: payloadOf(step.orders) };
    const append = this.#client("sender").append(this.#space, id, entry);
    try {
      await this.#world.until(append, "the append");
    } catch (error) {
      if (step.refused && isTidemarkError(error)) return;
      throw error;
    }
    if (step.refused) throw new Error("it was admitted");
  }

  /** Nothing is held any more, and somebody serves: then everything ends. */
  async #end(): Promise<string> {
    const world = this.#world;
    world.gates.clear();
    for (const process of this.#frozen) await world.thaw(process);
    this.#frozen.clear();
    if (this.#serving.length === 0) await world.startProcess("last");
    const settled = (): boolean => {
      for (const gate of world.gates.waitingAt) world.gates.release(gate);
      for (const stream of ["x", "y"]) world.let(stream);
      return world.gates.waiting === 0 && world.isSettled([SPACE]);
    };
    for (let round = 0; round < END_ROUNDS && !settled(); round++) {
      for (const process of this.#serving) await this.#ask(process);
      await world.reach(settled, LEASE_MS);
    }
    return world.whatIsLeft([SPACE]);
  }

  get #serving(): readonly string[] {
    const alive = this.#world.processes.filter(({ alive, host }) => alive && host !== undefined);
    return alive.map(({ name }) => name);
  }
}

function payloadOf({ waits, throws, sends }: Orders): JsonValue {
  return {
    waits: waits === true,
    throws: throws === true,
    sends: sends === undefined ? false : payloadOf(sends),
  };
}

/** Whether somebody watches everything from the first session to the end, with one process that nothing befalls. */
function isDemanded({ steps }: Script): boolean {
  return !steps.some(({ do: what }) => UNDEMANDING.has(what));
}

const UNDEMANDING: ReadonlySet<ScriptStep["do"]> = new Set([
  "crash",
  "freeze",
  "leave",
  "steal",
] as const);
