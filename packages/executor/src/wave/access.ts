import type { AccessRequest } from "@tidemark/memory-engine";
import type { Contribution } from "./contribution.js";

/**
 * What a contribution asks of the access list, on the strength of the durable entry that it delivers (seed
 * 001 §3d). `undefined` where it asks for nothing, or delivers none: then there is no right to ask by.
 */
export function accessRequestOf(
  run: Pick<Contribution, "accessChanges" | "actor" | "delivery">,
): AccessRequest | undefined {
  const { accessChanges, actor = {}, delivery } = run;
  if (accessChanges === undefined || delivery?.place === undefined) return undefined;
  const { stream, eventId, place } = delivery;
  return { changes: accessChanges, actor, entry: { stream, eventId, ...place } };
}
