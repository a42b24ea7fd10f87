import type { GateName } from "@tidemark/protocol";
import { expectStep, isExpectation } from "../../src/run/expectations.js";
import { act } from "../../src/run/steps.js";
import type { Scenario } from "../../src/scenario/file.js";
import type { TransportKind } from "../../src/world/switchboard.js";
import { World } from "../../src/world/world.js";

/** What came of a scenario that was played here. */
export interface Played {
  readonly failure: string | undefined;
  /** The gates at which something was met that had been set there. */
  readonly met: readonly GateName[];
  readonly trace: readonly string[];
}

/** Plays a scenario on the real parts, and tells which gates met what was set on them. */
export async function play(scenario: Scenario, transport: TransportKind): Promise<Played> {
  const trace: string[] = [];
  const met: GateName[] = [];
  const world = new World(scenario, {
    transport,
    seed: 1,
    trace: (line) => trace.push(line),
    watch: { gate: (gate, what) => void (what === "pass" ? undefined : met.push(gate)) },
  });
  try {
    await world.begin();
    for (const step of scenario.steps) {
      trace.push(`${step.number}. ${step.verb} ${JSON.stringify(step.value)}`);
      try {
        if (isExpectation(step)) expectStep(world, step);
        else await act(world, step);
      } catch (error) {
        const words = error instanceof Error ? error.message : String(error);
        return { failure: `step ${step.number} (${step.verb}): ${words}`, met, trace };
      }
    }
    return { failure: undefined, met, trace };
  } finally {
    await world.end();
  }
}
