import { systemClock } from "@tidemark/protocol";
import type { Scenario } from "../scenario/file.js";
import type { Step } from "../scenario/steps.js";
import type { TransportKind } from "../world/switchboard.js";
import { World } from "../world/world.js";
import { expectStep, isExpectation } from "./expectations.js";
import { act } from "./steps.js";

/** How one scenario is run. */
export interface RunOptions {
  readonly transport: TransportKind;
  /** Chance of the world; a file's own seed where none is given. */
  readonly seed?: number | undefined;
}

/** What came of a scenario. */
export interface ScenarioResult {
  readonly id: string;
  readonly title: string;
  readonly passed: boolean;
  /** What failed, and at which step. */
  readonly failure: string | undefined;
  readonly trace: readonly string[];
}

/** A scenario that has not finished by then has hung. */
export const HANG_MS = 20_000;

const TRACE_TAIL = 12;

/** Runs one scenario on the real parts. Never rejects: what goes wrong is the result. */
export async function runScenario(
  scenario: Scenario,
  options: RunOptions,
): Promise<ScenarioResult> {
  const trace: string[] = [];
  const world = new World(scenario, {
    transport: options.transport,
    seed: options.seed ?? scenario.seed ?? 1,
    trace: (line) => trace.push(line),
  });
  const failure = await withinRealTime(play(world, scenario, trace));
  if (failure !== HUNG) await world.end();
  const text = failure === HUNG ? hungText(trace) : failure;
  return {
    id: scenario.id,
    title: scenario.title,
    passed: text === undefined,
    failure: text,
    trace,
  };
}

const HUNG = Symbol("hung");

/** A hung world cannot be ended: it is left, and the process goes on without it. */
async function withinRealTime<T>(work: Promise<T>): Promise<T | typeof HUNG> {
  let timer: { cancel(): void } | undefined;
  const hung = new Promise<typeof HUNG>((resolve) => {
    timer = systemClock.timer(HANG_MS, () => resolve(HUNG));
  });
  const first = await Promise.race([work, hung]);
  timer?.cancel();
  return first;
}

async function play(
  world: World,
  scenario: Scenario,
  trace: string[],
): Promise<string | undefined> {
  try {
    await world.begin();
  } catch (error) {
    return `set-up: ${wordsOf(error)}`;
  }
  for (const step of scenario.steps) {
    trace.push(describe(step));
    try {
      if (isExpectation(step)) expectStep(world, step);
      else await act(world, step);
    } catch (error) {
      return `step ${step.number} (${step.verb}): ${wordsOf(error)}`;
    }
  }
  return undefined;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe({ number, verb, value, beside }: Step): string {
  const more = Object.keys(beside).length > 0 ? ` ${JSON.stringify(beside)}` : "";
  return `${number}. ${verb} ${JSON.stringify(value)}${more}`;
}

function hungText(trace: readonly string[]): string {
  const tail = trace.slice(-TRACE_TAIL).join("\n    ");
  return `hung: no end within ${HANG_MS / 1_000} s; last steps:\n    ${tail}`;
}
