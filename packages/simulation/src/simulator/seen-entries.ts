import type { AcceptedCommit, DocId, EntryMark, Seq, StreamEntry } from "@tidemark/protocol";
import type { StreamOwner } from "./board-pieces.js";
import type { Complain } from "./oracle.js";
import { initialOf, type Payload, referenceRun } from "./reference.js";
import type { SeenEntry } from "./sends.js";

const placeOf = (at: Pick<StreamEntry, "stream" | "seq" | "index">): string =>
  `${at.stream} ${at.seq} ${at.index}`;

/** The entries that the commit table of one space showed, in what order and how often each ended. */
export class SeenEntries {
  readonly #complain: Complain;
  readonly #entries = new Map<string, SeenEntry>();
  readonly #byEvent = new Map<string, SeenEntry[]>();
  readonly #payloads = new Map<string, Payload>();
  /** Commits that may have raced a wave. */
  readonly #disturbances: Seq[] = [];
  /** Compaction has run: an id that comes again may be a new event (R1). */
  compacted = false;
  consequenced = 0;
  passedOver = 0;
  errored = 0;

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  get all(): Iterable<SeenEntry> {
    return this.#entries.values();
  }

  at(place: Pick<StreamEntry, "stream" | "seq" | "index">): SeenEntry | undefined {
    return this.#entries.get(placeOf(place));
  }

  of(stream: DocId, event: string): readonly SeenEntry[] {
    return this.#byEvent.get(`${stream} ${event}`) ?? [];
  }

  /** The entry of an event, whatever its stream: one that waits, where there is one. */
  ofEvent(event: string | undefined): SeenEntry | undefined {
    const named = [...this.#entries.values()].filter(({ entry }) => entry.eventId === event);
    return named.find(({ ended }) => ended === undefined) ?? named[0];
  }

  /** What a client fired: the store need not keep it. */
  knowPayload(event: string, payload: Payload): void {
    this.#payloads.set(event, payload);
  }

  arrive(entry: StreamEntry, owner: StreamOwner | undefined): void {
    const seen: SeenEntry = {
      entry,
      handler: owner?.handler ?? "?",
      piece: owner?.piece ?? ("?" as DocId),
      payload:
        (entry.payload as unknown as Payload | undefined) ?? this.#payloads.get(entry.eventId),
    };
    this.#entries.set(placeOf(entry), seen);
    const key = `${entry.stream} ${entry.eventId}`;
    this.#byEvent.set(key, [...(this.#byEvent.get(key) ?? []), seen]);
  }

  /** Somebody wrote documents at this seq. */
  disturbed(seq: Seq): void {
    this.#disturbances.push(seq);
  }

  /** The highest seq up to which every entry of a stream has ended: the contiguous marked prefix. */
  frontier(stream: DocId): Seq {
    const own = [...this.#entries.values()]
      .filter(({ entry }) => entry.stream === stream)
      .sort((a, b) => a.entry.seq - b.entry.seq);
    const open = own.find(({ ended }) => ended === undefined)?.entry.seq;
    const passed = own.filter(({ entry }) => open === undefined || entry.seq < open);
    return (passed.at(-1)?.entry.seq ?? 0) as Seq;
  }

  /** A mark ends an entry: once, in its turn, and as its handler must. */
  end(commit: AcceptedCommit, seen: SeenEntry, { status, duplicate }: EntryMark): void {
    const { entry } = seen;
    if (seen.ended !== undefined) {
      this.#complain("once", `${entry.eventId} ended at ${seen.ended} and again at ${commit.seq}`);
    }
    // A duplicate runs nothing: the drain marks it as it meets it, while earlier entries wait for their turn (R1).
    if (!duplicate) this.#judgeOrder(commit, seen);
    seen.ended = commit.seq;
    if (status !== undefined) seen.status = status;
    if (duplicate) {
      seen.duplicate = true;
      this.passedOver += 1;
      return;
    }
    if (status === "errored") this.#judgeError(commit, seen);
    this.#judgeOnce(commit, seen);
    if (status === undefined) this.consequenced += 1;
    else this.errored += 1;
  }

  #judgeOnce({ seq }: AcceptedCommit, seen: SeenEntry): void {
    const { entry } = seen;
    const before = this.of(entry.stream, entry.eventId).filter(
      (each) => each !== seen && each.ended !== undefined && !each.duplicate,
    );
    if (before.length > 0 && !this.compacted) {
      this.#complain("once", `${entry.eventId} was consequenced twice, at ${seq} again`);
    }
  }

  /** No handler of the board throws but by its own law. */
  #judgeError({ seq }: AcceptedCommit, { entry, handler, payload }: SeenEntry): void {
    if (payload === undefined) return;
    const run = { payload, who: undefined, key: "", get: initialOf };
    if (referenceRun(handler, run).error !== undefined) return;
    this.#complain("outcome", `${entry.eventId} (${handler}) failed at ${seq}; it must succeed`);
  }

  /** In a stream entries end in order (R16); across streams one overtakes only where it was raced. */
  #judgeOrder(commit: AcceptedCommit, seen: SeenEntry): void {
    const { entry } = seen;
    // A copy of an event that the wave sent itself runs in that wave: nothing that came meanwhile is earlier.
    if (entry.seq === commit.seq) return;
    for (const other of this.#entries.values()) {
      if (other.ended !== undefined || other === seen) continue;
      const { stream, seq, index } = other.entry;
      if (seq > entry.seq || (seq === entry.seq && index > entry.index)) continue;
      const raced = this.#disturbances.some(
        (at) => at > this.#since(commit, seq) && at < commit.seq,
      );
      if (stream === entry.stream || !raced) {
        this.#complain(
          "order",
          `commit ${commit.seq} ends ${entry.eventId} (${seen.handler}) before ${other.entry.eventId} (${other.handler}), which arrived earlier`,
        );
      }
    }
  }

  /** What read a raced event's write falls with it (R16): the race may be older than what fell. */
  #since(commit: AcceptedCommit, seq: Seq): Seq {
    const wave = [...this.#entries.values()].filter(({ ended }) => ended === commit.seq);
    return Math.min(seq, ...wave.map(({ entry }) => entry.seq)) as Seq;
  }
}
