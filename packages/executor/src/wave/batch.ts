import {
  advanceFrontier,
  consequencesOf,
  markFor,
  type EntryEnd,
  type EntryPlace,
  type FrontierEntry,
} from "@tidemark/events";
import {
  parseInstanceKey,
  type BasisUpdate,
  type DerivedBatch,
  type DocId,
  type EntryMark,
  type EventId,
  type InstanceKey,
  type NewEntry,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { coalesceWrites } from "./coalesce.js";
import type { Contribution, RunRead, RunWrite } from "./contribution.js";
import type { WavePlan } from "./plan.js";

/** What a batch needs of the transaction it is built in. */
export interface BatchContext {
  readonly space: SpaceId;
  /** The seq the commit gets. */
  readonly seq: Seq;
  readonly derivedThrough: Seq;
  /** The new W, where it moves. */
  readonly watermark?: Seq;
  frontier(stream: DocId): Seq;
  /** Stored entries of the stream above `after`, in order; read as far as it is walked, about `expected` at first. */
  entriesAbove(stream: DocId, after: Seq, expected: number): Iterable<FrontierEntry>;
}

/** A contribution that lands, with the writes that it keeps. */
interface Landing {
  readonly contribution: Contribution;
  readonly writes: readonly RunWrite[];
}

/** A batch, and whose preconditions it carries: the store names a failed one by its index. */
export interface BuiltBatch {
  readonly batch: DerivedBatch;
  /** Per precondition, the contribution that carried it. */
  readonly carriers: readonly number[];
}

/** Turns a decided wave into the one derived commit that carries it (seed 001 §3). */
export function buildBatch(
  contributions: readonly Contribution[],
  plan: WavePlan,
  context: BatchContext,
): BuiltBatch {
  const landings = landingsOf(contributions, plan);
  const appends = appendsOf(landings);
  const marks = marksOf(landings);
  const ended = appends.filter((entry) => entry.mark !== undefined).map((entry) => entry.eventId);
  const preconditions = landings.flatMap(({ contribution }) =>
    (contribution.preconditions ?? []).map((check) => ({ check, carrier: contribution.id })),
  );
  const batch: DerivedBatch = {
    derivedThrough: context.derivedThrough,
    consequenceOf: unique([...consequencesOf(marks), ...ended]),
    changes: changesOf(landings),
    appends,
    marks,
    frontiers: frontiersOf(marks, appends, context),
    basis: basisOf(landings, plan, context.space),
    ...(context.watermark === undefined ? {} : { watermark: context.watermark }),
    ...(preconditions.length === 0
      ? {}
      : { preconditions: preconditions.map(({ check }) => check) }),
  };
  return { batch, carriers: preconditions.map(({ carrier }) => carrier) };
}

function landingsOf(contributions: readonly Contribution[], plan: WavePlan): readonly Landing[] {
  return contributions.flatMap((contribution) => {
    const fate = plan.fates.get(contribution.id);
    return fate?.kind === "lands" ? [{ contribution, writes: fate.writes }] : [];
  });
}

function changesOf(landings: readonly Landing[]): DerivedBatch["changes"] {
  const writes = landings.flatMap(({ contribution, writes: kept }) =>
    kept.map(({ key, op }) => ({
      key,
      op,
      ...(contribution.actor === undefined ? {} : { attribution: contribution.actor }),
    })),
  );
  return coalesceWrites(writes).map(({ key, ...rest }) => ({ ...parseInstanceKey(key), ...rest }));
}

/** Same-space sends: each entry ends in this wave only by its own copy's surviving run (seed 000 §4). */
function appendsOf(landings: readonly Landing[]): DerivedBatch["appends"] {
  const ends = new Map<string, NonNullable<Contribution["delivery"]>["end"]>();
  for (const { contribution } of landings) {
    const { delivery } = contribution;
    if (delivery === undefined || delivery.place !== undefined) continue;
    ends.set(`${delivery.stream} ${delivery.eventId}`, delivery.end);
  }
  return landings.flatMap(({ contribution }) =>
    contribution.sends.map((entry) => {
      const end = ends.get(`${entry.stream} ${entry.eventId}`);
      return end === undefined ? entry : { ...entry, mark: endFields(end) };
    }),
  );
}

/** What an entry's end adds to it, without its place: the commit gives that. */
function endFields(end: EntryEnd): NonNullable<NewEntry["mark"]> {
  const {
    stream: _stream,
    seq: _seq,
    index: _index,
    eventId: _id,
    ...fields
  } = markFor(NOWHERE, end);
  return fields;
}

const NOWHERE = { stream: "", seq: 0, index: 0, eventId: "" } as unknown as EntryPlace;

function marksOf(landings: readonly Landing[]): readonly EntryMark[] {
  const marks = new Map<string, EntryMark>();
  for (const { contribution } of landings) {
    const { delivery } = contribution;
    if (delivery?.place === undefined) continue;
    const place = { stream: delivery.stream, eventId: delivery.eventId, ...delivery.place };
    const mark = delivery.duplicate ?? markFor(place, delivery.end);
    marks.set(`${mark.stream} ${mark.seq} ${mark.index}`, mark);
  }
  return [...marks.values()];
}

function frontiersOf(
  marks: readonly EntryMark[],
  appends: DerivedBatch["appends"],
  context: BatchContext,
): DerivedBatch["frontiers"] {
  const byStream = new Map<DocId, EntryMark[]>();
  for (const mark of marks) {
    const own = byStream.get(mark.stream);
    if (own === undefined) byStream.set(mark.stream, [mark]);
    else own.push(mark);
  }
  for (const entry of appends) {
    if (entry.mark !== undefined && !byStream.has(entry.stream)) byStream.set(entry.stream, []);
  }
  return [...byStream].flatMap(([stream, own]) => {
    const before = context.frontier(stream);
    // Where everything is in order, it walks over what this wave ended and meets one entry more.
    const stored = context.entriesAbove(stream, before, own.length + 1);
    const after = advanceFrontier(before, withAppends(stored, stream, appends, context.seq), own);
    return after > before ? [{ stream, seq: after }] : [];
  });
}

/** The stored entries, then those that this commit itself appends. */
function* withAppends(
  stored: Iterable<FrontierEntry>,
  stream: DocId,
  appends: DerivedBatch["appends"],
  seq: Seq,
): Iterable<FrontierEntry> {
  yield* stored;
  let index = 0;
  for (const entry of appends) {
    if (entry.stream !== stream) continue;
    yield {
      seq,
      index,
      ...(entry.mark === undefined ? {} : { consequenced: true as const }),
    };
    index += 1;
  }
}

/**
 * The rows of each node's last run of the wave, where that run lands: ids and seqs, overwritten in
 * place (seed 001 §3b). An earlier run's rows would vouch for values it never read.
 */
function basisOf(
  landings: readonly Landing[],
  plan: WavePlan,
  space: SpaceId,
): readonly BasisUpdate[] {
  const writers = writersOf(landings);
  const lastRuns = new Map<string, Contribution>();
  for (const { contribution } of landings) {
    if (contribution.kind !== "derivation") continue;
    lastRuns.set(`${contribution.action} ${contribution.instance}`, contribution);
  }
  return [...lastRuns.values()].map((contribution) => ({
    action: contribution.action,
    scopeKey: contribution.instance,
    reads: documentReads(contribution.reads).map(({ key, seq, space: foreign }) => ({
      space: foreign ?? space,
      ...parseInstanceKey(key),
      seq:
        foreign === undefined && readFromWave(key, contribution.id, writers, plan)
          ? ("wave" as const)
          : seq,
    })),
  }));
}

/** Per instance, the first and the last landing contribution that writes it. */
function writersOf(
  landings: readonly Landing[],
): ReadonlyMap<InstanceKey, { readonly first: number; readonly last: number }> {
  const writers = new Map<InstanceKey, { readonly first: number; readonly last: number }>();
  for (const { contribution, writes } of landings) {
    for (const { key } of writes) {
      const first = writers.get(key)?.first ?? contribution.id;
      writers.set(key, { first, last: contribution.id });
    }
  }
  return writers;
}

/**
 * Whether a run read of an instance exactly what this commit stores there. A later write of the wave,
 * or a write rebased on what the run never saw, leaves the row behind the head: stale, as it is.
 */
function readFromWave(
  key: InstanceKey,
  reader: number,
  writers: ReadonlyMap<InstanceKey, { readonly first: number; readonly last: number }>,
  plan: WavePlan,
): boolean {
  const written = writers.get(key);
  if (written === undefined || plan.rebased.has(key)) return false;
  return written.last <= reader;
}

/** One read per document instance, at the lowest seq it was read at. */
function documentReads(reads: readonly RunRead[]): readonly RunRead[] {
  const lowest = new Map<string, RunRead>();
  for (const read of reads) {
    const at = `${read.space ?? ""} ${read.key}`;
    const known = lowest.get(at);
    if (known === undefined || read.seq < known.seq) lowest.set(at, read);
  }
  return [...lowest.values()];
}

function unique(ids: readonly EventId[]): readonly EventId[] {
  return [...new Set(ids)];
}
