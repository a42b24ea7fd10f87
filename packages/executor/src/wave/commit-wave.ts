import type { FrontierEntry } from "@tidemark/events";
import type { DerivedVerdict, EngineTx, EntryTable, ServedSpace } from "@tidemark/memory-engine";
import {
  PreconditionError,
  type AcceptedCommit,
  type DerivedBatch,
  type DocId,
  type InstanceKey,
  type Seq,
  type TidemarkError,
} from "@tidemark/protocol";
import { buildWave, type BatchContext, type BuiltWave } from "./batch.js";
import type { Contribution } from "./contribution.js";
import { planWave, type Reason, type WavePlan } from "./plan.js";
import { planViewOf, type OwnTenure } from "./store-view.js";

/** Where W stands, and where it goes if everything of the wave lands. */
export interface WaveHeader {
  readonly from: Seq;
  readonly to: Seq;
  /** Bytes of operations past which the wave is split (seed 001 §3). */
  readonly maxBytes: number;
}

/** The answer of the store. */
export type WaveVerdict =
  | {
      readonly ok: true;
      readonly plan: WavePlan;
      /** In seq order: more than one where the wave was split, none where it held basis rows alone (R8). */
      readonly commits: readonly AcceptedCommit[];
      /** The last of them, which carries the watermark. */
      readonly commit: AcceptedCommit | undefined;
      /** Of a split wave, the seq of the commit that wrote each instance. */
      readonly places: ReadonlyMap<InstanceKey, Seq>;
      /** Tells subscribers and the feed. */
      release(): void;
    }
  | { readonly ok: false; readonly error: TidemarkError };

/** Entries of one stream are read in pages: a frontier looks a little past what it moves over. */
const FRONTIER_PAGE = 64;

/**
 * Decides and writes a wave in one immediate transaction, a split one too (seed 001 §3, §3d). A failed precondition costs
 * the contribution that carried it, and the rest is decided again. `turnedDown` does not land anyhow.
 */
export function commitWave(
  served: ServedSpace,
  own: OwnTenure,
  contributions: readonly Contribution[],
  header: WaveHeader,
  turnedDown: ReadonlyMap<number, Reason> = new Map(),
): WaveVerdict {
  const refused = new Map(turnedDown);
  for (;;) {
    let plan: WavePlan | undefined;
    let wave: BuiltWave | undefined;
    const verdict = served.commitDerived(
      own.holder,
      (tx) => {
        refuseDenied(served, contributions, refused);
        plan = planWave(contributions, planViewOf(tx, own), refused);
        wave = buildWave(contributions, plan, batchContext(served, tx, header, plan));
        return wave.batches.every(isEmpty) ? undefined : wave.batches;
      },
      { hold: true },
    );
    const owner = verdict.ok ? undefined : ownerOf(verdict.error, wave?.carriers ?? []);
    if (owner !== undefined && !refused.has(owner)) {
      refused.set(owner, "precondition");
      continue;
    }
    return answer(verdict, plan, wave);
  }
}

/** Who asked for something must be able to do it themselves, by the list as this transaction has it. */
function refuseDenied(
  served: Pick<ServedSpace, "checkWrite">,
  contributions: readonly Contribution[],
  refused: Map<number, Reason>,
): void {
  for (const { id, askedBy } of contributions) {
    if (askedBy !== undefined && served.checkWrite(askedBy) !== undefined)
      refused.set(id, "access");
  }
}

function answer(
  verdict: DerivedVerdict,
  plan: WavePlan | undefined,
  wave: BuiltWave | undefined,
): WaveVerdict {
  if (!verdict.ok) return { ok: false, error: verdict.error };
  if (plan === undefined || wave === undefined) {
    throw new TypeError("the store accepted a wave that was never planned");
  }
  const { commits, commit } = verdict;
  return { ok: true, plan, commits, commit, places: wave.places, release: () => verdict.release() };
}

/** The contribution whose precondition failed, by the index that the store names. */
function ownerOf(error: TidemarkError, carriers: readonly number[]): number | undefined {
  return error instanceof PreconditionError ? carriers[error.details.index] : undefined;
}

/** Everything was requeued and W stays: there is nothing to write. */
function isEmpty(batch: DerivedBatch): boolean {
  return (
    batch.watermark === undefined &&
    batch.changes.length === 0 &&
    batch.marks.length === 0 &&
    batch.appends.length === 0 &&
    batch.basis.length === 0
  );
}

/** W covers no input whose consequence or derivation this wave gave back (seed 001 §3). */
function coveredBy(plan: WavePlan, { from, to }: WaveHeader): Seq {
  for (const fate of plan.fates.values()) if (fate.kind !== "lands") return from;
  return to;
}

function batchContext(
  served: ServedSpace,
  tx: EngineTx,
  header: WaveHeader,
  plan: WavePlan,
): BatchContext {
  const { entries } = served.engine;
  const through = coveredBy(plan, header);
  return {
    space: served.space,
    seq: tx.seq(),
    maxBytes: header.maxBytes,
    derivedThrough: through,
    ...(through > header.from ? { watermark: through } : {}),
    frontier: (stream) => entries.frontier(stream),
    entriesIn: (stream, after, through) => entries.count(stream, { after, through }),
    entriesAbove: (stream, after, expected) => pagedEntries(entries, stream, after, expected),
  };
}

/** Entries of one seq never straddle two pages: a frontier passes them together or not at all. */
function* pagedEntries(
  table: EntryTable,
  stream: DocId,
  after: Seq,
  expected: number,
): Iterable<FrontierEntry> {
  let from = after;
  let limit = expected;
  for (;;) {
    const page = table.progress(stream, { after: from, limit });
    const last = page.at(-1);
    if (last === undefined) return;
    const whole = page.length < limit ? page : page.filter((entry) => entry.seq < last.seq);
    yield* whole;
    if (page.length < limit) return;
    from = whole.at(-1)?.seq ?? from;
    limit = whole.length === 0 ? limit * 2 : Math.max(limit, FRONTIER_PAGE);
  }
}
