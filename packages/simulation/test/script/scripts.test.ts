import { beforeAll, describe, expect, test } from "vitest";
import { CONFIGURATIONS } from "../../src/model/configuration.js";
import { chooseScripts } from "../../src/script/choose.js";
import type { Script } from "../../src/script/step.js";
import { play, type Played } from "../../src/script/stage.js";

const LONG_MS = 120_000;

/** Transitions that no script is made for: why, and yet the scripts' runs between them meet each. */
const UNWRITTEN: Readonly<Record<string, string>> = {
  "release: no row of its own":
    "the shortest ways to it lose the row to a rival, who is left alone; it comes behind a refused commit",
};

/** Transitions on the way of a script that its run may pass unseen, and why. */
const UNSEEN: Readonly<Record<string, string>> = {
  "close: with what was sealed": "no derivation is observed: a wave of nothing else closes for W",
  "commit: whole, W moves": "and commits for W, where it found nothing to change",
  "time passes: the row stays live": "instants are those of what happens: two ticks may be one",
};

/** Transitions that the exploration never takes and the running system does. */
const UNEXPLORED: Readonly<Record<string, string>> = {
  "view: nothing new": "it changes nothing: there is no other state behind it",
};

/** Situations that parted from the model once, by a fault of the observer. */
const ALSO = [
  "resume: its row ran out, in a handler",
  "resume: another took its row, in a handler",
] as const;

/** `all`: one script for every situation that can be played, not only for every transition. */
const WHICH = process.env["SCRIPTS"];

const choice = chooseScripts();
const played = new Map<string, Played>();
const others = WHICH === "all" ? [...choice.all.keys()] : ALSO;

beforeAll(async () => {
  for (const { script } of choice.chosen) played.set(script.situation, await play(script));
}, LONG_MS);

function met(): ReadonlySet<string> {
  return new Set([...played.values()].flatMap(({ transitions }) => [...transitions.keys()]));
}

describe("ways of the model, played to the running system", () => {
  for (const { script, way } of choice.chosen) {
    test(`[SI-W3] ${script.situation}: the run goes the way that it was written for`, () => {
      const { departures, missed, left, transitions } = played.get(script.situation) as Played;
      expect({ departures, missed, left }).toEqual({ departures: [], missed: [], left: "" });
      expect([...way].filter((each) => !transitions.has(each) && !(each in UNSEEN))).toEqual([]);
    });
  }

  for (const situation of others) {
    test(`[SI-W3] ${situation}: the model has a step for whatever comes of it`, async () => {
      const script = choice.all.get(situation);
      expect(script).toBeDefined();
      const { departures, left } = await play(script as Script);
      expect({ departures, left }).toEqual({ departures: [], left: "" });
    });
  }

  test("[SI-W4] every transition of the model is met by the running system", () => {
    const seen = met();
    expect([...choice.transitions].filter((each) => !seen.has(each))).toEqual([]);
    console.log(`${choice.transitions.size} transitions, ${choice.chosen.length} scripts`);
  });

  test("[SI-W4] every transition has a script that was made for it, but for those that are named", () => {
    expect(choice.unwritten).toEqual(Object.keys(UNWRITTEN));
    const madeFor = choice.chosen.flatMap((each) => each.madeFor);
    expect(new Set([...madeFor, ...choice.unwritten])).toEqual(choice.transitions);
    expect(choice.transitions.size).toBeGreaterThanOrEqual(70);
  });

  test("[SI-W4] every transition of the running system is explored, but for those that are named", () => {
    const beyond = [...met()].filter((each) => !choice.transitions.has(each));
    expect(beyond).toEqual(Object.keys(UNEXPLORED));
  });

  test("[SI-W5] the same model makes the same choice", () => {
    const few = CONFIGURATIONS.slice(0, 2);
    const [first, again] = [chooseScripts(few), chooseScripts(few)];
    expect(again.chosen.length).toBeGreaterThan(3);
    expect(again).toEqual(first);
  });
});
