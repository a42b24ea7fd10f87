import { describe, expect, test } from "vitest";
import { CONFIGURATIONS } from "../../src/model/configuration.js";
import { explore } from "../../src/model/explore.js";
import { LAW, lawWithout, type Rule } from "../../src/model/law.js";

const LONG_MS = 120_000;

/** Where each planted fault of the model is met, so that no other configuration is searched for it. */
const MET_IN: Readonly<Record<Rule, string>> = {
  admissionDedupes: "resends, errors and compaction",
  acquireAsksTheRow: "a crash and a successor",
  renewAsksTheRow: "a crash and a successor",
  commitAsksTheRow: "a crash and a successor",
  lapseEndsTheWave: "a crash and a successor",
  drainsInOrder: "cycles that the deadline cuts",
  oneCopy: "a race in a wave",
  passesOverDuplicates: "resends, errors and compaction",
  effectsRideWithTheMark: "a race in a wave",
  racedGoesBack: "a race in a wave",
  followersGoBack: "a race, and a later event of its stream",
  frontierStopsAtPending: "a cascade into a stream that waits",
  takenBackKeepsW: "a race in a wave",
  provesAtRest: "cycles that the deadline cuts",
  watermarkRises: "a race in a wave",
  successorAsksTheStore: "a race in a wave",
  compactsTheConsumed: "resends, errors and compaction",
};

const configurationOf = (name: string) => {
  const found = CONFIGURATIONS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no configuration "${name}"`);
  return found;
};

describe("the model, explored whole", () => {
  let states = 0;
  for (const configuration of CONFIGURATIONS) {
    test(
      `[SI-W1] ${configuration.name}: no state breaks an invariant`,
      { timeout: LONG_MS },
      () => {
        const explored = explore(configuration);
        expect(explored.violation).toBeUndefined();
        expect(explored.states).toBeGreaterThan(100);
        states += explored.states;
      },
    );
  }

  test("[SI-W1] it visits tens of thousands of states", () => {
    console.log(`${states} states in ${CONFIGURATIONS.length} configurations`);
    expect(states).toBeGreaterThan(50_000);
  });
});

describe("planted faults of the model", () => {
  for (const rule of Object.keys(LAW) as Rule[]) {
    test(`[SI-W2] without ${rule} an invariant breaks`, { timeout: LONG_MS }, () => {
      const { violation } = explore(configurationOf(MET_IN[rule]), lawWithout(rule), 10_000);
      expect(violation, "nothing was found").toBeDefined();
      expect(violation?.path.length).toBeGreaterThan(0);
    });
  }
});
