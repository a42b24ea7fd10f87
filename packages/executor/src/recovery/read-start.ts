import type { Engine, ServedSpace } from "@tidemark/memory-engine";
import type { AcceptedCommit, Seq } from "@tidemark/protocol";
import { BasisRecovery } from "./basis-recovery.js";

const PAGE = 1_000;

/** The store as activation found it. */
export interface Start {
  readonly watermark: Seq;
  readonly head: Seq;
  /** The last commit above W that history has lost. */
  readonly lost: Seq | undefined;
  /** Every other commit above W. */
  readonly standing: readonly AcceptedCommit[];
  readonly recovery: BasisRecovery;
}

/** What activation reads of the store: W, the head, what stands between, and the basis index (§6). */
export function readStart({ engine, space }: Pick<ServedSpace, "engine" | "space">): Start {
  const watermark = engine.watermark();
  const horizon = engine.horizon();
  const lost = horizon > watermark ? horizon : undefined;
  return {
    watermark,
    head: engine.head(),
    lost,
    standing: commitsAbove(engine, lost ?? watermark),
    recovery: new BasisRecovery({ space, basis: engine.basis }),
  };
}

function commitsAbove(engine: Pick<Engine, "commitsSince">, from: Seq): readonly AcceptedCommit[] {
  const commits: AcceptedCommit[] = [];
  for (;;) {
    const page = engine.commitsSince(commits.at(-1)?.seq ?? from, PAGE);
    commits.push(...page);
    if (page.length < PAGE) return commits;
  }
}
