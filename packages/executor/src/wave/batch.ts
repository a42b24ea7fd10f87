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
  type Frontier,
  type InstanceKey,
  type NewEntry,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { coalesceWrites, type LandingWrite } from "./coalesce.js";
import type { Contribution, RunRead, RunWrite } from "./contribution.js";
import type { WavePlan } from "./plan.js";
import { pieceOf, splitByPiece, type Splits } from "./split.js";

/** What a batch needs of the transaction it is built in. */
export interface BatchContext {
  readonly space: SpaceId;
  /** The seq of the wave's first commit; a split wave's others follow it. */
  readonly seq: Seq;
  /** Bytes of operations that one commit may hold; what exceeds them is split by piece. */
  readonly maxBytes: number;
  readonly derivedThrough: Seq;
  /** The new W, where it moves. */
  readonly watermark?: Seq;
  frontier(stream: DocId): Seq;
  /** How many stored entries of the stream stand above `after`, up to `through`. */
  entriesIn(stream: DocId, after: Seq, through: Seq): number;
  /** Stored entries of the stream above `after`, in order; read as far as it is walked, about `expected` at first. */
  entriesAbove(stream: DocId, after: Seq, expected: number): Iterable<FrontierEntry>;
}

/** A contribution that lands, with the writes that it keeps. */
interface Landing {
  readonly contribution: Contribution;
  readonly writes: readonly RunWrite[];
}

/** What a wave becomes, and whose preconditions it carries: the store names a failed one by its index. */
export interface BuiltWave {
  /** One derived commit each, written together; more than one where the wave exceeds its bound. */
  readonly batches: readonly DerivedBatch[];
  /** Per precondition, the contribution that carried it. */
  readonly carriers: readonly number[];
  /** Where the wave is split: the seq of the commit that writes each instance. */
  readonly places: ReadonlyMap<InstanceKey, Seq>;
}

/**
 * Turns a decided wave into the one derived commit that carries it, or, past `maxBytes`, into several,
 * split by piece (seed 001 §3). Each names every event and the same coverage; the watermark, the
 * frontiers and the basis rows ride the last alone, preconditions the first.
 */
export function buildWave(
  contributions: readonly Contribution[],
  plan: WavePlan,
  context: BatchContext,
): BuiltWave {
  const landings = landingsOf(contributions, plan);
  const writes = coalesceWrites(landingWrites(landings));
  const splits = splitByPiece(writes, context.maxBytes);
  const places = placesOf(writes, splits, context.seq);
  const parts = [...Array(splits.count).keys()].map((at) => {
    const own = landings.filter(({ contribution }) => splits.of(pieceOf(contribution)) === at);
    const changes = writes.filter(({ key }) => splits.ofKey(key) === at).map(asChange);
    return { changes, appends: appendsOf(own, landings), marks: marksOf(own) };
  });
  const preconditions = landings.flatMap(({ contribution }) =>
    (contribution.preconditions ?? []).map((check) => ({ check, carrier: contribution.id })),
  );
  const header = {
    derivedThrough: context.derivedThrough,
    consequenceOf: unique(parts.flatMap(endedBy)),
  };
  const last = splits.count - 1;
  const batches = parts.map((part, at): DerivedBatch => ({
    ...header,
    ...part,
    frontiers: at === last ? frontiersOf(parts, context) : [],
    basis: at === last ? basisOf(landings, plan, context.space, places) : [],
    ...(at === last && context.watermark !== undefined ? { watermark: context.watermark } : {}),
    ...(at === 0 && preconditions.length > 0
      ? { preconditions: preconditions.map(({ check }) => check) }
      : {}),
  }));
  return { batches, carriers: preconditions.map(({ carrier }) => carrier), places };
}

/** What one commit of the wave appends and ends. */
type Part = Pick<DerivedBatch, "changes" | "appends" | "marks">;

function endedBy({ appends, marks }: Part): readonly EventId[] {
  const ended = appends.filter((entry) => entry.mark !== undefined).map((entry) => entry.eventId);
  return [...consequencesOf(marks), ...ended];
}

/** Of a wave that is one commit, nothing: the commit's own seq says it. */
function placesOf(
  writes: readonly LandingWrite[],
  splits: Splits,
  first: Seq,
): ReadonlyMap<InstanceKey, Seq> {
  if (splits.count === 1) return new Map();
  return new Map(writes.map(({ key }) => [key, (first + splits.ofKey(key)) as Seq]));
}

function landingsOf(contributions: readonly Contribution[], plan: WavePlan): readonly Landing[] {
  const landings: Landing[] = [];
  for (const contribution of contributions) {
    const fate = plan.fates.get(contribution.id);
    if (fate?.kind === "lands") landings.push({ contribution, writes: fate.writes });
  }
  return landings;
}

function landingWrites(landings: readonly Landing[]): readonly LandingWrite[] {
  const landing: LandingWrite[] = [];
  for (const { contribution, writes } of landings) {
    const piece = pieceOf(contribution);
    const attribution = contribution.actor;
    for (const { key, op } of writes) landing.push({ key, op, piece, attribution });
  }
  return landing;
}

function asChange({ key, op, attribution }: LandingWrite): DerivedBatch["changes"][number] {
  const { id, scopeKey } = parseInstanceKey(key);
  return attribution === undefined ? { id, scopeKey, op } : { id, scopeKey, op, attribution };
}

/** Same-space sends: each entry ends in this wave only by its own copy's surviving run (seed 000 §4). */
function appendsOf(own: readonly Landing[], all: readonly Landing[]): DerivedBatch["appends"] {
  if (own.every(({ contribution }) => contribution.sends.length === 0)) return [];
  const ends = new Map<string, NonNullable<Contribution["delivery"]>["end"]>();
  for (const { contribution } of all) {
    const { delivery } = contribution;
    if (delivery === undefined || delivery.place !== undefined) continue;
    ends.set(`${delivery.stream} ${delivery.eventId}`, delivery.end);
  }
  return own.flatMap(({ contribution }) =>
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
    const { stream, eventId, place: at } = delivery;
    const place = { stream, seq: at.seq, index: at.index, eventId };
    const mark = delivery.duplicate ?? markFor(place, delivery.end);
    marks.set(`${mark.stream} ${mark.seq} ${mark.index}`, mark);
  }
  return [...marks.values()];
}

function frontiersOf(parts: readonly Part[], context: BatchContext): DerivedBatch["frontiers"] {
  const byStream = new Map<DocId, EntryMark[]>();
  for (const { marks, appends } of parts) {
    for (const mark of marks) {
      const known = byStream.get(mark.stream);
      if (known === undefined) byStream.set(mark.stream, [mark]);
      else known.push(mark);
    }
    for (const entry of appends) {
      if (entry.mark !== undefined && !byStream.has(entry.stream)) byStream.set(entry.stream, []);
    }
  }
  const frontiers: Frontier[] = [];
  for (const [stream, own] of byStream) {
    const before = context.frontier(stream);
    const passed = passedBy(own, stream, before, context);
    // From where everything is in order on, it meets one entry more.
    const expected = (passed === before ? own.length : 0) + NEXT_AND_WHOLE;
    const stored = context.entriesAbove(stream, passed, expected);
    const after = advanceFrontier(passed, withAppends(stored, stream, parts, context.seq), own);
    if (after > before) frontiers.push({ stream, seq: after });
  }
  return frontiers;
}

/** The next entry, and one more, by which it is known that the next one's seq has no others. */
const NEXT_AND_WHOLE = 2;

/**
 * Where a wave ends just the entries that follow the frontier, as most do: the last of them, found by counting
 * and not by a look at each. The frontier itself otherwise.
 */
function passedBy(
  own: readonly EntryMark[],
  stream: DocId,
  before: Seq,
  { entriesIn }: BatchContext,
): Seq {
  let last = before;
  for (const { seq } of own) if (seq > last) last = seq;
  return last > before && entriesIn(stream, before, last) === own.length ? last : before;
}

/** The stored entries, then those that the wave itself appends, commit by commit. */
function* withAppends(
  stored: Iterable<FrontierEntry>,
  stream: DocId,
  parts: readonly Part[],
  first: Seq,
): Iterable<FrontierEntry> {
  yield* stored;
  for (const [at, { appends }] of parts.entries()) {
    let index = 0;
    for (const entry of appends) {
      if (entry.stream !== stream) continue;
      yield {
        seq: (first + at) as Seq,
        index,
        ...(entry.mark === undefined ? {} : { consequenced: true as const }),
      };
      index += 1;
    }
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
  places: ReadonlyMap<InstanceKey, Seq>,
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
        foreign === undefined && readFromWave(key, contribution, writers, plan)
          ? (places.get(key) ?? ("wave" as const))
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
  { id, basis }: Pick<Contribution, "id" | "basis">,
  writers: ReadonlyMap<InstanceKey, { readonly first: number; readonly last: number }>,
  plan: WavePlan,
): boolean {
  const written = writers.get(key);
  if (written === undefined || (plan.rebased.get(key) ?? 0) > basis) return false;
  return written.last <= id;
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
