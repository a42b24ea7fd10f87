import type { ActionOf } from "./action.js";
import type { Law } from "./law.js";
import { refused, serving, type Stepped, went, withTenure } from "./result.js";
import { holds, isPending, type ModelState } from "./state.js";
import { standing } from "./store-steps.js";
import { isCopy, rowText } from "./wave-steps.js";

/**
 * A change of the access list lands ahead of the wave whose run asks for it, under the wave's lease: once for its event,
 * and whatever the wave does next (seed 001 §3d).
 */
export function access(
  state: ModelState,
  { process, event }: ActionOf<"access">,
  law: Law,
): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  if (!holds(state, process) && law.commitAsksTheRow) {
    return refused(`${process} changed the access list under ${rowText(state)}`);
  }
  const made = tenure.closing?.contributions.find(
    (each) => each.kind === "handling" && each.event === event,
  );
  if (made === undefined)
    return refused(`${process} changed the access list for ${event}, which its wave does not hold`);
  const entry = state.entries.find(({ pos }) => pos === made.pos);
  if (entry?.asks !== true || !isPending(entry))
    return refused(`${event} asks for no change of the access list, or asks no more`);
  if (entry.grantedAt !== undefined)
    return refused(`${event} changed the access list at ${entry.grantedAt} already`);
  const seq = state.head + 1;
  const change = { seq, tenure: tenure.id, races: ["*"], access: true } as const;
  const next = {
    ...state,
    head: seq,
    entries: state.entries.map((each) => (each === entry ? { ...each, grantedAt: seq } : each)),
    changes: [...standing(state), change],
  };
  return went(next, "ahead of its wave");
}

/** A copy delivers no durable entry, and has no right to ask for access by: nothing of its run lands (decision 21). */
export function withhold(state: ModelState, { process, event }: ActionOf<"withhold">): Stepped {
  const tenure = serving(state, process);
  if (typeof tenure === "string") return refused(tenure);
  const { closing } = tenure;
  const made = closing?.contributions.find((each) => isCopy(each) && each.event === event);
  if (closing === undefined || made === undefined)
    return refused(`no copy of ${event} is in the wave of ${process}`);
  const contributions = closing.contributions.filter((each) => each !== made);
  const next = withTenure(state, process, (each) => ({
    ...each,
    closing: { ...closing, contributions },
  }));
  return went(next, "a copy that asks");
}
