import type { Action } from "../model/action.js";
import { EMPTY, type ModelState, type Process, type Tenure } from "../model/state.js";
import { step } from "../model/step.js";
import { situationOf, transitionOf } from "../model/transition.js";
import { type Observation, wordsOf } from "./observation.js";

/** Where the model and the system part. */
export interface Departure {
  /** The model's step that was to follow. */
  readonly action: Action;
  readonly why: string;
  readonly observation: Observation;
}

/** Steps the model of one space along with the system, and stops where there is no such step. */
export class Follower {
  /** How often each transition was taken. */
  readonly taken = new Map<string, number>();
  /** The situations among them: how far whoever it befell had come. */
  readonly situations = new Set<string>();
  readonly #onDeparture: (departure: Departure) => void;
  #state: ModelState = { ...EMPTY, underived: "unseen" };
  #observation: Observation | undefined;
  /** From the first departure on nothing that follows means anything. */
  #departed = false;

  constructor(onDeparture: (departure: Departure) => void) {
    this.#onDeparture = onDeparture;
  }

  get state(): ModelState {
    return this.#state;
  }

  get departed(): boolean {
    return this.#departed;
  }

  process(name: string): Process | undefined {
    return this.#state.processes[name];
  }

  /** The tenure of a process, where it may still commit. */
  tenure(name: string): Tenure | undefined {
    const tenure = this.process(name)?.tenure;
    return tenure?.over ? undefined : tenure;
  }

  /** What follows is done because of it. */
  because(observation: Observation): void {
    this.#observation = observation;
    const by = observation.at - this.#state.now;
    if (by > 0) this.act({ do: "tick", by });
  }

  /** One step; false where the model has none. */
  act(action: Action): boolean {
    if (this.#departed) return false;
    const stepped = step(this.#state, action);
    if (!stepped.ok) {
      this.depart(action, stepped.why);
      return false;
    }
    const transition = transitionOf(action, stepped.outcome);
    this.situations.add(situationOf(this.#state, action, transition));
    this.#state = stepped.state;
    this.taken.set(transition, (this.taken.get(transition) ?? 0) + 1);
    return true;
  }

  /** Something that no step of the model explains. */
  depart(action: Action, why: string): void {
    if (this.#departed || this.#observation === undefined) return;
    this.#departed = true;
    this.#onDeparture({ action, why, observation: this.#observation });
  }
}

/** A departure in one line. */
export function departureText({ action, why, observation }: Departure): string {
  return `${wordsOf(observation)}: the model has no step "${action.do}": ${why}`;
}
