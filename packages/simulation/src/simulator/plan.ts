import type { JsonValue } from "@tidemark/protocol";
import { PATTERNS } from "./board.js";
import { episodesOf } from "./episodes/index.js";
import type { PlanFile } from "./plan-file.js";
import { CLIENTS, FULL_ACL, Planner } from "./planner.js";

const EPISODES_BETWEEN_SETTLES = 3;

/** Makes a plan of a seed. The same seed makes the same plan. */
export function makePlan(seed: number): PlanFile {
  const planner = new Planner(seed);
  const policy = policyOf(planner);
  // What a plan adds later is made in it.
  const spaces = spacesOf(planner);
  playOut(planner);
  const { a1, ...others } = CLIENTS;
  const clients = Object.fromEntries(
    Object.entries({ a1, ...others }).filter(([name]) => planner.clients.includes(name)),
  ) as PlanFile["clients"];
  return {
    id: `SIM-${seed}`,
    title: `seed ${seed}`,
    seed,
    patterns: PATTERNS as unknown as PlanFile["patterns"],
    spaces,
    clients,
    policy,
    steps: planner.steps,
  };
}

function playOut(planner: Planner): void {
  const { chance } = planner;
  // Cells that several people write at once begin somewhere.
  for (const piece of planner.pieces) prelude(planner, piece);
  planner.settle();
  const episodes = episodesOf(planner);
  const rounds = 2 + chance.below(3);
  for (let round = 0; round < rounds; round++) {
    const count = 1 + chance.below(EPISODES_BETWEEN_SETTLES);
    for (let i = 0; i < count; i++) chance.weighted(episodes)(planner);
    planner.settle();
  }
}

function prelude(planner: Planner, piece: string): void {
  planner.add({ write: ["a1", `${piece}/form`, { a: "", b: "" }] });
  if (!planner.chance.of(0.7)) return;
  planner.add({ write: ["a1", `${piece}/note`, "start"] });
  planner.add({ write: ["a1", `${piece}/total`, 0] });
  planner.add({ write: ["a1", `${piece}/tags`, []] });
}

function policyOf({ chance, compacts }: Planner): PlanFile["policy"] {
  return {
    flushDeadlineMs: chance.pick([100, 100, 40, 10]),
    idleParkMs: chance.pick([30_000, 2_000]),
    ...(compacts ? { compactAfterEntries: 3, compactAfterMs: 1_000, compactMaxEntries: 12 } : {}),
    ...(chance.of(0.15) ? { appendPacing: { burst: 2, ratePerSecond: 4 } } : {}),
  };
}

function spacesOf({ spaces, pieces }: Planner): Readonly<Record<string, JsonValue>> {
  const nameOf = (address: string): string => address.split("/")[1] ?? "";
  return Object.fromEntries(
    spaces.map((space) => [
      space,
      {
        acl: FULL_ACL,
        pieces: Object.fromEntries(
          pieces
            .filter((address) => address.startsWith(`${space}/`))
            .map((address) => [nameOf(address), { pattern: "board" }]),
        ),
      },
    ]),
  );
}
