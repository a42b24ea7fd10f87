import type { Action } from "./action.js";
import { type Budget, budgetOf, type Configuration } from "./configuration.js";
import { type Broken, brokenBy } from "./invariants.js";
import { keyOf } from "./key.js";
import { LAW, type Law } from "./law.js";
import { isLocal, isShared, type Move, movesOf, unended, type WorldState } from "./moves.js";
import { EMPTY, holds } from "./state.js";
import { step } from "./step.js";
import { situationOf, transitionOf } from "./transition.js";

/** One step on the way to a state. */
export interface PathStep {
  readonly action: Action;
  readonly transition: string;
  readonly situation: string;
}

/** A state that breaks something, and the shortest way to it. */
export interface Violation extends Broken {
  readonly path: readonly PathStep[];
}

/** What an exploration saw. */
export interface Exploration {
  readonly configuration: string;
  readonly states: number;
  readonly steps: number;
  /** Each transition with a shortest path that ends with it. */
  readonly transitions: ReadonlyMap<string, readonly PathStep[]>;
  /** The same for each situation: a transition, and how far whoever it befalls had come. */
  readonly situations: ReadonlyMap<string, readonly PathStep[]>;
  readonly violation?: Violation;
}

interface Node {
  readonly world: WorldState;
  readonly parent: Node | undefined;
  readonly step: PathStep | undefined;
}

/**
 * Visits every state of a configuration, the nearest first, and ends at the first that breaks an invariant: the way to
 * it is as short as there is one. With `mostStates` it ends once it has seen so many.
 */
export function explore(
  configuration: Configuration,
  law: Law = LAW,
  mostStates = Number.POSITIVE_INFINITY,
): Exploration {
  const first: Node = {
    world: { model: EMPTY, budget: budgetOf(configuration) },
    parent: undefined,
    step: undefined,
  };
  const seen = new Set([keyOf(first.world)]);
  const transitions = new Map<string, readonly PathStep[]>();
  const situations = new Map<string, readonly PathStep[]>();
  let frontier = [first];
  let steps = 0;
  const result = (violation?: Violation): Exploration => ({
    configuration: configuration.name,
    states: seen.size,
    steps,
    transitions,
    situations,
    ...(violation === undefined ? {} : { violation }),
  });
  while (frontier.length > 0 && seen.size < mostStates) {
    const next: Node[] = [];
    for (const node of frontier) {
      const reached = after(node, configuration, law);
      if (reached.every(isOnlyTime)) {
        const dead = deadEnd(node);
        if (dead !== undefined) return result(dead);
      }
      for (const child of reached) {
        steps += 1;
        const { transition, situation } = child.step as PathStep;
        if (!transitions.has(transition)) transitions.set(transition, pathTo(child));
        if (!situations.has(situation)) situations.set(situation, pathTo(child));
        const broken = brokenBy(child.world.model, node.world.model);
        if (broken !== undefined) return result({ ...broken, path: pathTo(child) });
        const key = keyOf(child.world);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(child);
      }
    }
    frontier = next;
  }
  return result();
}

function after(node: Node, configuration: Configuration, law: Law): Node[] {
  const { own, outside } = movesOf(node.world, configuration);
  const all: Reached[] = [];
  for (const { moves } of own) {
    const reached = tried(node, moves, law);
    if (reached.some(({ move }) => isLocal(move))) {
      return reached.filter(({ move }) => !isShared(move)).map((each) => each.node);
    }
    all.push(...reached);
  }
  return [...all, ...tried(node, outside, law)].map((each) => each.node);
}

interface Reached {
  readonly move: Move;
  readonly node: Node;
}

function tried(node: Node, moves: readonly Move[], law: Law): Reached[] {
  const { model, budget } = node.world;
  const reached: Reached[] = [];
  for (const move of moves) {
    const { action, costs } = move;
    const stepped = step(model, action, law);
    if (!stepped.ok) continue;
    const transition = transitionOf(action, stepped.outcome);
    const situation = situationOf(model, action, transition);
    const world = { model: stepped.state, budget: spend(budget, costs) };
    const taken = { action, transition, situation };
    reached.push({ move, node: { world, parent: node, step: taken } });
  }
  return reached;
}

function spend(budget: Budget, costs: Partial<Budget> = {}): Budget {
  const left = { ...budget };
  for (const name of Object.keys(costs) as (keyof Budget)[]) left[name] += costs[name] ?? 0;
  return left;
}

/** Time and the row alone move: nothing is going to become of what stands. */
function isOnlyTime({ step: last }: Node): boolean {
  const name = last?.action.do;
  return name === "tick" || name === "renew" || name === "steal";
}

/** Nothing more happens by itself: then everything that was appended has ended. */
function deadEnd(node: Node): Violation | undefined {
  const { model } = node.world;
  const served = Object.keys(model.processes).some((name) => holds(model, name));
  const [left] = unended(model);
  if (!served || left === undefined) return undefined;
  return {
    invariant: "nothing is left behind",
    what: `${left.event} has no end, and nothing moves`,
    path: pathTo(node),
  };
}

function pathTo(node: Node): readonly PathStep[] {
  const path: PathStep[] = [];
  for (let at: Node | undefined = node; at?.step !== undefined; at = at.parent) {
    path.unshift(at.step);
  }
  return path;
}
