import type { ServedSpace } from "@tidemark/memory-engine";
import type { AcceptedCommit, Seq } from "@tidemark/protocol";
import { BasisRecovery } from "./basis-recovery.js";

/** The store as activation found it. */
export interface Start {
  readonly watermark: Seq;
  readonly head: Seq;
  readonly standing: readonly AcceptedCommit[];
  readonly recovery: BasisRecovery;
}

/** What activation reads of the store: W, the head, what stands between, and the basis index (§6). */
export function readStart({ engine, space }: Pick<ServedSpace, "engine" | "space">): Start {
  const watermark = engine.watermark();
  return {
    watermark,
    head: engine.head(),
    standing: engine.commitsSince(watermark),
    recovery: new BasisRecovery({ space, basis: engine.basis }),
  };
}
