import { describe, expect, test } from "vitest";
import { chooseScripts, scriptFor } from "../../src/script/choose.js";
import { play } from "../../src/script/stage.js";
import type { Script } from "../../src/script/step.js";
import { loadPlanted } from "../simulator/mutations/load-mutated.js";
import { OWN_SCRIPTS, TRACED, type TracedFault } from "./faults.js";

/** `all`, or a part of the names of those to plant; without it a handful is planted. */
const WHICH = process.env["MUTATIONS"];
const LOADING_MS = 90_000;

/** Of a handful it is not worth to choose among all. */
const choice = WHICH === undefined ? undefined : chooseScripts();

function isPlanted({ name, quick }: TracedFault): boolean {
  if (WHICH === undefined) return quick === true;
  return WHICH === "all" || name.includes(WHICH);
}

function scriptOf({ script }: TracedFault): Script {
  if (typeof script !== "string") return script;
  const chosen = choice === undefined ? scriptFor(script) : choice.all.get(script);
  if (chosen === undefined) throw new Error(`no script meets "${script}"`);
  return chosen;
}

describe("faults of the product, judged by the trace alone", () => {
  test("there are twenty of them and more, each with a name of its own", () => {
    expect(TRACED.length).toBeGreaterThanOrEqual(20);
    expect(new Set(TRACED.map(({ name }) => name)).size).toBe(TRACED.length);
  });

  test.each(OWN_SCRIPTS)("[SI-W3] $situation: the model has a step for it", async (script) => {
    const { departures, missed, left } = await play(script);
    expect({ departures, missed, left }).toEqual({ departures: [], missed: [], left: "" });
  });

  for (const fault of TRACED.filter(isPlanted)) {
    test(`[SI-V3] told: ${fault.name}`, { timeout: LOADING_MS }, async () => {
      const script = scriptOf(fault);
      // What parts from the model without the planted fault too tells nothing.
      expect((await play(script)).departures).toEqual([]);
      const { module, close } = await loadPlanted<{ play: typeof play }>(
        fault,
        "/src/script/stage.ts",
      );
      try {
        const { departures } = await module.play(script);
        expect(departures[0] ?? "nothing is told").toMatch(fault.says);
        if (WHICH !== undefined) console.log(departures[0]?.slice(0, 200));
      } finally {
        await close();
      }
    });
  }
});
