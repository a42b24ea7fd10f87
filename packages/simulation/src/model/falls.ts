import type { CommitAction } from "./action.js";
import type { Law } from "./law.js";
import type { Closing, Contribution, ModelState, Pos } from "./state.js";
import { ENTRIES_PER_COMMIT } from "./store-steps.js";

/**
 * What of a wave goes back (seed 001 §3d): whoever was beaten to what it rests on, the later ones of its stream, and
 * whatever read what went back. Where the reads are not seen, whatever was sealed after it may have read it.
 */
export function judgeFalls(
  state: ModelState,
  tenure: number,
  { contributions }: Closing,
  { falls: told, sent }: Pick<CommitAction, "falls" | "sent">,
  law: Law,
): ReadonlySet<Contribution> | string {
  const falls = new Set<Contribution>();
  const lowest = Math.min(...contributions.map((made) => arrivalOf(made)));
  for (const made of contributions) {
    const raced = isRaced(state, tenure, made);
    const follows = [...falls].some(
      (fallen) => fallen.pos > 0 && made.pos > 0 && fallen.stream === made.stream,
    );
    const falling = isFalling(made, told, sent, falls.size > 0);
    if (!falling) {
      if (raced && made.kind === "handling" && law.racedGoesBack)
        return `${made.event} landed over a write it never saw`;
      if (follows && law.followersGoBack)
        return `${made.event} landed past an earlier entry of its stream that went back`;
      continue;
    }
    const turnedDown = isTurnedDown(state, tenure, made);
    const cause = raced || falls.size > 0 || turnedDown || isMet(state, tenure, lowest);
    if (!cause) return `${made.event} went back, and nobody had written meanwhile`;
    falls.add(made);
  }
  return falls;
}

/** A copy falls where its wave does not end its entry; a derivation with whatever fell before it. */
function isFalling(
  { kind, pos, event }: Contribution,
  told: readonly Pos[],
  sent: CommitAction["sent"],
  fell: boolean,
): boolean {
  if (pos > 0) return told.includes(pos);
  if (kind === "derivation") return fell;
  return !sent.some((entry) => entry.ended && (entry.copy ?? entry.event) === event);
}

/** Whether somebody else wrote over what it rests on, after it had looked. */
export function isRaced(
  { changes }: ModelState,
  tenure: number,
  { stream, basis, kind }: Contribution,
): boolean {
  if (kind !== "handling") return false;
  return changes.some(
    (change) => change.tenure !== tenure && change.seq > basis && change.races.includes(stream),
  );
}

/**
 * Whether anything at all was written by somebody else since the wave's first event arrived: where it is not seen what a
 * write was to, it may have raced any; and its sender's own may have superseded it.
 */
function isMet({ changes }: ModelState, tenure: number, since: number): boolean {
  return changes.some(
    (change) => change.tenure !== tenure && change.seq > since && change.races.includes("*"),
  );
}

/** A run that asks for access falls where the list has become another one since, by its own wave too (seed 001 §3d). */
function isTurnedDown(
  { changes, entries }: ModelState,
  tenure: number,
  { pos, basis }: Contribution,
): boolean {
  const asks = entries.some((entry) => entry.pos === pos && entry.asks === true);
  if (!asks) return false;
  return changes.some(
    (change) => change.tenure === tenure && change.access === true && change.seq > basis,
  );
}

function arrivalOf({ pos, basis }: Contribution): number {
  return pos > 0 ? Math.min(basis, Math.floor(pos / ENTRIES_PER_COMMIT)) : basis;
}
