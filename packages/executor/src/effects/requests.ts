import { isJsonObject, setOwn, type JsonValue, type MutableJsonObject } from "@tidemark/protocol";
import type { EffectRequest } from "@tidemark/runtime";
import type { Contribution } from "../wave/contribution.js";
import type { WavePlan } from "../wave/plan.js";
import type { RunCarriage } from "./in-flight.js";

/** A request that may leave, and the run that it leaves for. */
export interface AcceptedRequest {
  readonly request: EffectRequest;
  readonly carriage: RunCarriage;
}

/**
 * What a decided wave asks of the world: the requests of the runs that landed, in sealing order, but
 * for those whose marker was lost. Withdrawn work does not egress (seed 001 §5).
 */
export function requestsOf(
  contributions: readonly Contribution[],
  plan: WavePlan,
): readonly AcceptedRequest[] {
  const accepted: AcceptedRequest[] = [];
  for (const { id, effect, action, instance, actor } of contributions) {
    if (effect === undefined || plan.fates.get(id)?.kind !== "lands") continue;
    if (plan.lost.get(id)?.has(effect.target) === true) continue;
    const carriage = { action, instance, ...(actor === undefined ? {} : { actor }) };
    accepted.push({ request: effect, carriage });
  }
  return accepted;
}

/** What a performer is given: what tells two askings of the same thing apart is the key's alone. */
export function sentRequest({ request }: EffectRequest): JsonValue {
  if (!isJsonObject(request)) return request;
  const sent: MutableJsonObject = {};
  for (const [name, value] of Object.entries(request)) {
    if (name !== "again") setOwn(sent, name, value);
  }
  return sent;
}
