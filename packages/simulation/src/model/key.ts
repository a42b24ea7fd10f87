import type { WorldState } from "./moves.js";
import type { Contribution, ModelState, Process, Tenure } from "./state.js";

/**
 * What makes two states the same: instants as distances, tenures and reigns by their order, nothing of the past that
 * decides nothing any more.
 */
export function keyOf({ model, budget }: WorldState): string {
  return [storeKey(model), ...processKeys(model), Object.values(budget).join()].join("|");
}

function storeKey(model: ModelState): string {
  const { now, head, watermark, entries, frontiers, changes, underived, tail, lease } = model;
  const entryKeys = entries.map(
    ({ pos, stream, event, end, endedAt, raced, effects }) =>
      `${pos}${stream}${event}${end?.[0] ?? ""}${endedAt ?? ""}${raced ? "r" : ""}${effects?.join() ?? ""}`,
  );
  const owed =
    underived === "unseen"
      ? ""
      : underived.map(({ seq, cause, tenure }) => `${seq}.${cause}${tenureAt(model, tenure)}`);
  const tailKey = tail.map(({ seq, content }) => `${seq}${content ? "c" : ""}`);
  const left = lease === undefined ? "" : `${lease.holder}${Math.max(0, lease.until - now)}`;
  const met = changes.map(
    ({ seq, tenure, races }) => `${seq}${races.join()}${tenureAt(model, tenure)}`,
  );
  return [
    head,
    watermark,
    entryKeys,
    Object.entries(frontiers).sort(),
    met,
    owed,
    tailKey,
    left,
  ].join(";");
}

function processKeys(model: ModelState): readonly string[] {
  return Object.keys(model.processes)
    .sort()
    .map((name) => {
      const process = model.processes[name] as Process;
      const { life, lives, believes, tenure } = process;
      return `${name}${life[0]}${lives}${believes ? 1 : 0}${tenure === undefined ? "" : tenureKey(model, tenure)}`;
    });
}

function tenureKey(model: ModelState, tenure: Tenure): string {
  const { since, seen, applied, queue, running, wave, closing, proven, untold, over, blind } =
    tenure;
  const made = (
    each: Pick<Contribution, "event" | "pos" | "basis" | "reign"> & { kind?: string },
  ): string =>
    `${each.kind?.[0] ?? ""}${each.pos}${each.event}${each.basis}${each.reign - model.reign}`;
  return [
    since,
    seen,
    applied,
    queue,
    proven,
    running === undefined ? "" : `${made(running)}${running.ended ?? ""}`,
    wave.map(made),
    closing === undefined ? "" : `c${closing.contributions.map(made).join()}/${closing.proven}`,
    `${untold ? "u" : ""}${over ? "o" : ""}${blind ? "b" : ""}`,
  ].join(":");
}

/** Whose change it is, as far as a running tenure cares. */
function tenureAt({ processes }: ModelState, tenure: number | undefined): string {
  if (tenure === undefined) return "a";
  const own = Object.entries(processes).find(([, process]) => process.tenure?.id === tenure);
  return own?.[0] ?? "o";
}
