import type { Planner } from "../planner.js";
import type { Episode } from "./episode.js";

const EFFECT_GATES = [
  "effect:before-dispatch",
  "effect:before-completion",
  "effect:after-completion",
] as const;

function ask(planner: Planner, piece: string): void {
  if (planner.chance.of(0.7)) planner.fire(planner.client(), piece, "ask");
  else {
    const url = planner.chance.pick(["https://x.test/1", "https://x.test/2"]);
    planner.add({ write: [planner.client(), `${piece}/url`, url] });
  }
}

function answer(planner: Planner, piece: string): void {
  const fails = planner.chance.of(0.15) ? { fails: true } : {};
  planner.add({ answer: `${piece}/page`, ...fails });
}

/** Something is asked for outside, and asked otherwise before the answer, to and fro. */
export const asking: Episode = (planner) => {
  const { chance } = planner;
  const piece = planner.piece();
  for (let i = 1 + chance.below(3); i > 0; i--) {
    ask(planner, piece);
    planner.add({ advance: chance.pick([0, 120, 200]) });
    if (chance.of(0.5)) answer(planner, piece);
    if (chance.of(0.3)) planner.burst(1);
  }
  if (chance.of(0.3)) planner.add({ crash: "server" }, { start: "server" });
  if (chance.of(0.5)) answer(planner, piece);
};

/** A request or its answer is held up, fails, or ends its process on the way. */
export const askingAtAGate: Episode = (planner) => {
  const { chance } = planner;
  const piece = planner.piece();
  const space = piece.slice(0, piece.indexOf("/"));
  const gate = chance.pick(EFFECT_GATES);
  const fault = chance.pick(["hold", "crashAt", "fail"]);
  planner.add({ [fault]: gate, space, ...(fault === "fail" ? { with: "io" } : {}) });
  ask(planner, piece);
  planner.add({ advance: 200 });
  answer(planner, piece);
  planner.burst(1 + chance.below(2));
  if (chance.of(0.6)) ask(planner, piece);
  if (fault === "hold") planner.add({ release: gate, space });
  if (fault === "crashAt") planner.add({ start: chance.pick(["server", "rival"]) });
  planner.add({ advance: chance.pick([0, 200, 2_000]) });
  answer(planner, piece);
};
