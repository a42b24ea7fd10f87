import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type InstanceKey,
  type Seq,
} from "@tidemark/protocol";
import type { Contribution } from "../../src/wave/contribution.js";

/** The space's instance of a node, by a short name. */
export const at = (name: string): InstanceKey =>
  instanceKey(`node:${name}` as DocId, SPACE_SCOPE_KEY);

export const seq = (n: number) => n as Seq;

let nextId = 0;

/** A derivation that did nothing, on basis 10; `parts` say what else. */
export function contribution(parts: Partial<Contribution>): Contribution {
  nextId += 1;
  return {
    id: nextId,
    kind: "derivation",
    action: `t/n${nextId}@p` as ActionId,
    instance: SPACE_SCOPE_KEY,
    basis: seq(10),
    reads: [],
    elided: [],
    writes: [],
    sends: [],
    layer: { ops: new Map() },
    ...parts,
  };
}
