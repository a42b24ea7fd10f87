import {
  ProtocolError,
  type DocId,
  type EntryMark,
  type EventId,
  type Frontier,
  type Seq,
  type StreamEntry,
} from "@tidemark/protocol";
import type { Actors } from "../commit/actors.js";
import type { EntryProgress, EntryTable } from "../engine-types.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily } from "../sqlite/statement.js";
import { indexOfPos, lastPosOf, posOf, seqOfPos } from "../sqlite/tables.js";
import { encodeExtra, encodeOutcome, entryOfRow } from "./entry-row.js";
import { STREAM, type EntryRow } from "./statements.js";

const MAX_REMEMBERED_STREAMS = 10_000;
const NO_LIMIT = -1;
/** Numbers of streams begin at 1. */
const NO_STREAM = 0;

interface StreamState {
  readonly no: number;
  frontier: number;
}

/** Stream entries as rows (R21), and the frontier of each stream (`eventWatermark`, seed 000 §4). */
export class Entries implements EntryTable {
  readonly #q;
  readonly #actors: Actors;
  readonly #beforeRead: () => void;
  readonly #streams = new Map<string, StreamState>();

  /** `beforeRead` drops what is remembered once another process has committed. */
  constructor(driver: SqlDriver, actors: Actors, beforeRead: () => void) {
    this.#q = prepareLazily(driver, STREAM);
    this.#actors = actors;
    this.#beforeRead = beforeRead;
  }

  forget(): void {
    this.#streams.clear();
  }

  pending(limit: number = NO_LIMIT): readonly StreamEntry[] {
    return this.#entries(this.#q.pending.all(limit));
  }

  backlog(): boolean {
    return this.#q.oldestPending.get() !== undefined;
  }

  oldestPendingSeq(): Seq | undefined {
    const row = this.#q.oldestPending.get();
    return row === undefined ? undefined : (seqOfPos(row.pos) as Seq);
  }

  byEvent(stream: DocId, eventId: EventId): readonly StreamEntry[] {
    const state = this.#find(stream);
    return state === undefined ? [] : this.#entries(this.#q.byEvent.all(eventId, state.no));
  }

  consumed(
    events: readonly { readonly stream: DocId; readonly eventId: EventId }[],
  ): readonly StreamEntry[] {
    this.#beforeRead();
    const asked = new Set(events.map(({ stream, eventId }) => `${stream} ${eventId}`));
    const ids = JSON.stringify(events.map(({ eventId }) => eventId));
    return this.#entries(this.#q.consumed.all(ids)).filter(({ stream, eventId }) =>
      asked.has(`${stream} ${eventId}`),
    );
  }

  progress(
    stream: DocId,
    options: { readonly after: Seq; readonly limit: number },
  ): readonly EntryProgress[] {
    const state = this.#find(stream);
    if (state === undefined) return [];
    const rows = this.#q.progress.all(state.no, lastPosOf(options.after), options.limit);
    return rows.map(({ pos, consequenced }) => {
      const place = { seq: seqOfPos(pos) as Seq, index: indexOfPos(pos) };
      return consequenced === 1 ? { ...place, consequenced: true } : place;
    });
  }

  count(stream: DocId, { after, through }: { readonly after: Seq; readonly through: Seq }): number {
    const state = this.#find(stream);
    if (state === undefined) return 0;
    return this.#q.count.get(state.no, lastPosOf(after), lastPosOf(through))?.n ?? 0;
  }

  duplicate(stream: DocId, eventId: EventId): StreamEntry | undefined {
    const state = this.#find(stream);
    if (state === undefined) return undefined;
    const row = this.#q.duplicate.get(eventId, state.no, lastPosOf(state.frontier));
    return row === undefined ? undefined : this.#byPos(row.pos);
  }

  at(stream: DocId, seq: Seq, index: number): StreamEntry | undefined {
    const entry = this.#byPos(posOf(seq, index));
    return entry?.stream === stream ? entry : undefined;
  }

  list(
    stream: DocId,
    options: { readonly after?: Seq; readonly limit?: number } = {},
  ): readonly StreamEntry[] {
    const state = this.#find(stream);
    if (state === undefined) return [];
    const after = lastPosOf(options.after ?? 0);
    return this.#entries(this.#q.list.all(state.no, after, options.limit ?? NO_LIMIT));
  }

  frontier(stream: DocId): Seq {
    return (this.#find(stream)?.frontier ?? 0) as Seq;
  }

  frontiers(): readonly Frontier[] {
    return this.#q.frontiers
      .all()
      .map((row) => ({ stream: row.id as DocId, seq: row.frontier as Seq }));
  }

  /** Entries appended by commits after one seq and up to another, for the feed. */
  appendedBetween(after: Seq, upTo: Seq): readonly StreamEntry[] {
    return this.#entries(this.#q.between.all(lastPosOf(after), lastPosOf(upTo)));
  }

  insert(entry: StreamEntry): void {
    const actor = this.#actors.intern({
      principal: entry.firedAt.user,
      session: entry.firedAt.session,
    });
    this.#q.insert.run(
      posOf(entry.seq, entry.index),
      this.#intern(entry.stream).no,
      entry.eventId,
      JSON.stringify(entry.payload),
      // An entry always names at least a session, so its actor has a number.
      actor ?? 0,
      entry.firedAt.clientSeq ?? null,
      entry.appendedAt,
      encodeExtra(entry),
    );
  }

  /**
   * The payload goes unless an unresolved notice may need it for a Retry (R21).
   *
   * @throws ProtocolError when the mark names no entry that is still without a consequence
   */
  mark(mark: EntryMark): void {
    const { stream, seq, index, eventId } = mark;
    const write = mark.status === "needs-attention" ? this.#q.markAndKeep : this.#q.markAndShed;
    const pos = posOf(seq, index);
    const no = this.#find(stream)?.no ?? NO_STREAM;
    const { changes } = write.run(mark.status ?? null, encodeOutcome(mark), pos, no, eventId);
    if (changes === 1) return;
    throw new ProtocolError(
      `event ${eventId} of stream ${stream} has no unconsumed entry at seq ${seq}, index ${index}`,
    );
  }

  advance({ stream, seq }: Frontier): void {
    const state = this.#intern(stream);
    if (seq <= state.frontier) return;
    this.#q.advance.run(seq, state.no, seq);
    state.frontier = seq;
  }

  #byPos(pos: number): StreamEntry | undefined {
    const row = this.#q.byPos.get(pos);
    return row === undefined ? undefined : entryOfRow(row, this.#actors.byNo(row.actor));
  }

  #entries(rows: readonly EntryRow[]): readonly StreamEntry[] {
    return rows.map((row) => entryOfRow(row, this.#actors.byNo(row.actor)));
  }

  #find(id: DocId): StreamState | undefined {
    this.#beforeRead();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const row = this.#q.find.get(id);
    if (row === undefined) return undefined;
    if (this.#streams.size >= MAX_REMEMBERED_STREAMS) this.#streams.clear();
    const state: StreamState = { no: row.no, frontier: row.frontier };
    this.#streams.set(id, state);
    return state;
  }

  #intern(id: DocId): StreamState {
    const known = this.#find(id);
    if (known !== undefined) return known;
    this.#q.create.run(id);
    const created = this.#find(id);
    if (created === undefined) throw new Error(`stream ${id} was not stored`);
    return created;
  }
}
