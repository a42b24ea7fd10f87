import { CONFIGURATIONS, type Configuration } from "../model/configuration.js";
import { explore, type PathStep } from "../model/explore.js";
import { LAW } from "../model/law.js";
import type { Script } from "./step.js";
import { writeScript } from "./write-script.js";

/** The nearest states of a configuration: its shortest ways to everything that happens in it lead through them. */
const STATES = 1_500;

/** A script, and the transitions on its way that no other of the choice was made for. */
export interface Chosen {
  readonly script: Script;
  readonly madeFor: readonly string[];
  /** Every transition on its way. */
  readonly way: ReadonlySet<string>;
}

/** Scripts that have every transition of the model on their way, and those that no script can have. */
export interface Choice {
  readonly chosen: readonly Chosen[];
  /** One for every situation that can be played, those of the choice among them. */
  readonly all: ReadonlyMap<string, Script>;
  readonly transitions: ReadonlySet<string>;
  readonly unwritten: readonly string[];
}

interface Way {
  readonly script: Script;
  readonly path: readonly PathStep[];
  readonly transition: string;
}

/**
 * Chooses among the shortest ways to every situation: one for each transition, the farthest first, since what is near is
 * on the way to it. The same choice at every run.
 */
export function chooseScripts(configurations: readonly Configuration[] = CONFIGURATIONS): Choice {
  const transitions = new Set<string>();
  const shortest = new Map<string, Way>();
  const all = new Map<string, Script>();
  for (const one of waysOf(configurations, transitions)) {
    const { script } = one;
    if (!all.has(script.situation)) all.set(script.situation, script);
    const known = shortest.get(one.transition);
    if (known === undefined || one.path.length < known.path.length) {
      shortest.set(one.transition, one);
    }
  }
  const farthest = [...shortest.values()].sort((a, b) => b.path.length - a.path.length);
  const covered = new Set<string>();
  const chosen: Chosen[] = [];
  for (const { script, path, transition } of farthest) {
    if (covered.has(transition)) continue;
    const way = new Set(path.map((step) => step.transition));
    const madeFor = [...way].filter((each) => !covered.has(each));
    for (const each of madeFor) covered.add(each);
    chosen.push({ script, madeFor, way });
  }
  return {
    chosen,
    all,
    transitions,
    unwritten: [...transitions].filter((each) => !covered.has(each)),
  };
}

/** The script that the choice has for a situation, without the rest of it. */
export function scriptFor(situation: string): Script | undefined {
  for (const { script } of waysOf(CONFIGURATIONS, new Set())) {
    if (script.situation === situation) return script;
  }
  return undefined;
}

function* waysOf(
  configurations: readonly Configuration[],
  transitions: Set<string>,
): Iterable<Way> {
  for (const configuration of configurations) {
    const explored = explore(configuration, LAW, STATES);
    for (const transition of explored.transitions.keys()) transitions.add(transition);
    for (const [situation, path] of explored.situations) {
      const actions = path.map(({ action }) => action);
      const script = writeScript(situation, configuration, actions);
      const last = path.at(-1);
      if (script !== undefined && last !== undefined) {
        yield { script, path, transition: last.transition };
      }
    }
  }
}
