import type { EngineTx, Revision } from "@tidemark/memory-engine";
import { parseInstanceKey, type HolderId, type InstanceKey, type Seq } from "@tidemark/protocol";
import type { Intrusion, PlanView } from "./plan.js";

/** Whose derived commits are no intrusion. */
export interface OwnTenure {
  readonly holder: HolderId;
  /** Head of the store when the tenure began: what is above it and bears the holder is its own. */
  readonly since: Seq;
  /** Its commits beside the waves, which runs sealed before them have not seen (seed 001 §3e). */
  readonly direct?: { has(seq: Seq): boolean };
}

/** The store inside a wave's transaction, as the plan asks for it. */
export function planViewOf(tx: EngineTx, own: OwnTenure): PlanView {
  const fetched = new Map<
    InstanceKey,
    { readonly after: Seq; readonly list: readonly Intrusion[] }
  >();
  const fetch = (key: InstanceKey, after: Seq): readonly Intrusion[] => {
    const { id, scopeKey } = parseInstanceKey(key);
    if (tx.head(id, scopeKey) <= after) return [];
    return tx
      .revisionsAfter(id, scopeKey, after)
      .filter((revision) => !isOwn(revision, own))
      .map(asIntrusion);
  };
  return {
    intrusions(key, after) {
      const known = fetched.get(key);
      if (known !== undefined && known.after <= after) {
        return known.after === after ? known.list : known.list.filter(({ seq }) => seq > after);
      }
      const list = fetch(key, after);
      fetched.set(key, { after, list });
      return list;
    },
    head(key) {
      const { id, scopeKey } = parseInstanceKey(key);
      return tx.head(id, scopeKey);
    },
    read(key) {
      const { id, scopeKey } = parseInstanceKey(key);
      return tx.read(id, scopeKey);
    },
  };
}

function isOwn({ class: kind, holder, seq }: Revision, own: OwnTenure): boolean {
  if (kind !== "derived" || holder !== own.holder || seq <= own.since) return false;
  return own.direct?.has(seq) !== true;
}

function asIntrusion({ seq, op, class: kind, principal, session }: Revision): Intrusion {
  return {
    seq,
    op,
    authored: kind === "authored",
    ...(principal === undefined ? {} : { principal }),
    ...(session === undefined ? {} : { session }),
  };
}
