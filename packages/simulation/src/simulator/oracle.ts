import { deriveEventKey } from "@tidemark/events";
import {
  ACL_DOC,
  type AcceptedCommit,
  applyOperation,
  type DocId,
  type EntryMark,
  instanceKey,
  type InstanceKey,
  jsonEqual,
  type JsonValue,
  nodeIdFor,
  overwrittenPaths,
  parseInstanceKey,
  type Path,
  resolveScopeKey,
  type ScopeKey,
  type Seq,
  type SpaceId,
  SPACE_SCOPE_KEY,
  type StreamEntry,
  streamIdFor,
} from "@tidemark/protocol";
import { asksAccess } from "./access-changes.js";
import { AccessOracle, rightOf, type WhoIs } from "./access-oracle.js";
import { BOARD_CELLS, DERIVED, STREAMS } from "./board.js";
import { wrongAnswer, wrongNames } from "./commit-alone.js";
import { differ } from "./differ.js";
import {
  HANDLER_FED,
  initialOf,
  type Payload,
  referenceDerived,
  referenceRun,
  type ReferenceWrite,
} from "./reference.js";
import { asLogged, keysIn, type SeenEntry, Sends } from "./sends.js";

/** Says what does not hold. */
export type Complain = (rule: string, what: string) => void;

interface Overwrite {
  readonly seq: Seq;
  readonly session: string;
  readonly principal: string;
  readonly key: InstanceKey;
  readonly path: Path;
}

interface KnownPiece {
  readonly id: DocId;
  readonly cells: ReadonlyMap<DocId, string>;
  readonly derived: ReadonlyMap<DocId, string>;
  readonly streams: ReadonlyMap<DocId, string>;
  pattern: string;
}

const placeOf = (at: { stream: DocId; seq: Seq; index: number }): string =>
  `${at.stream} ${at.seq} ${at.index}`;

/**
 * Reads the commit table of one space in its order and says what every document must hold: authored commits by their own
 * operations, consequences by the reference handlers. It asks the system for no value.
 */
export class Oracle {
  readonly #space: SpaceId;
  readonly #complain: Complain;
  readonly #pieces = new Map<DocId, KnownPiece>();
  readonly #cellOf = new Map<DocId, { readonly piece: KnownPiece; readonly name: string }>();
  readonly #derivedOf = new Map<DocId, { readonly piece: KnownPiece; readonly name: string }>();
  readonly #streamOf = new Map<DocId, { readonly piece: KnownPiece; readonly handler: string }>();
  /** What the reference says that cells hold. */
  readonly #cells = new Map<InstanceKey, JsonValue | undefined>();
  /** What the commits' own operations make of every document. */
  readonly #stored = new Map<InstanceKey, JsonValue | undefined>();
  readonly #entries = new Map<string, SeenEntry>();
  readonly #byEvent = new Map<string, SeenEntry[]>();
  readonly #payloads = new Map<string, Payload>();
  readonly #overwrites: Overwrite[] = [];
  readonly #disturbances: Seq[] = [];
  /** Who may what, and what became of those who asked for more. */
  readonly access: AccessOracle;
  #head = 0 as Seq;
  #watermark = 0 as Seq;
  /** From this seq on somebody has watched everything without a break; derivations are judged commit by commit. */
  demandedFrom: Seq | undefined;
  /** Compaction has run: an id that comes again may be a new event (R1). */
  compacted = false;
  consequenced = 0;
  passedOver = 0;
  errored = 0;
  derivedCommits = 0;

  constructor(space: SpaceId, whoIs: WhoIs, complain: Complain) {
    this.#space = space;
    this.#complain = complain;
    this.access = new AccessOracle(whoIs, complain);
  }

  get head(): Seq {
    return this.#head;
  }

  get watermark(): Seq {
    return this.#watermark;
  }

  get entries(): Iterable<SeenEntry> {
    return this.#entries.values();
  }

  entriesOf(stream: DocId, event: string): readonly SeenEntry[] {
    return this.#byEvent.get(`${stream} ${event}`) ?? [];
  }

  /** A piece that the plan names. */
  knowPiece(id: DocId, pattern: string): void {
    if (this.#pieces.has(id)) return;
    const names = (make: (piece: DocId, name: string) => DocId, all: readonly string[]) =>
      new Map(all.map((name) => [make(id, name), name]));
    const piece: KnownPiece = {
      id,
      pattern,
      cells: names(nodeIdFor, Object.keys(BOARD_CELLS)),
      derived: names(nodeIdFor, DERIVED),
      streams: names(streamIdFor, STREAMS),
    };
    this.#pieces.set(id, piece);
    for (const [doc, name] of piece.cells) this.#cellOf.set(doc, { piece, name });
    for (const [doc, name] of piece.derived) this.#derivedOf.set(doc, { piece, name });
    for (const [doc, handler] of piece.streams) this.#streamOf.set(doc, { piece, handler });
  }

  /** Whether a stream's handler asks for access. */
  asks(stream: string): boolean {
    const owner = this.#streamOf.get(stream as DocId);
    return owner !== undefined && asksAccess(owner.handler);
  }

  /** What a client fired: the store need not keep it. */
  knowPayload(event: string, payload: Payload): void {
    this.#payloads.set(event, payload);
  }

  /** Takes in what has been committed since. */
  read(commits: readonly AcceptedCommit[]): void {
    for (const commit of commits) this.#take(commit);
  }

  /** What a cell instance must hold; `undefined` where nobody ever wrote it. */
  cell(piece: DocId, name: string, scopeKey: ScopeKey): JsonValue | undefined {
    return this.#cells.get(instanceKey(nodeIdFor(piece, name), scopeKey));
  }

  /** What a piece derives from what its cells must hold. */
  derived(piece: DocId): Readonly<Record<string, JsonValue>> {
    const version = this.#pieces.get(piece)?.pattern === "board2" ? 2 : 1;
    return referenceDerived(
      (cell) => this.cell(piece, cell, SPACE_SCOPE_KEY) ?? initialOf(cell),
      version,
    );
  }

  /** Every cell instance that was ever written, with what it must hold. */
  get cells(): Iterable<[InstanceKey, JsonValue | undefined]> {
    return this.#cells;
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

  #take(commit: AcceptedCommit): void {
    if (commit.seq !== this.#head + 1) {
      this.#complain("sequence", `commit ${commit.seq} follows ${this.#head}`);
    }
    this.#head = commit.seq;
    const wrong = wrongAnswer(commit, (key) => this.#stored.get(key));
    if (wrong) this.#complain("answer", wrong);
    this.#store(commit);
    for (const entry of commit.appends) this.#arrive(entry);
    this.#takeAccess(commit);
    if (commit.class === "derived") {
      this.derivedCommits += 1;
      this.#takeDerived(commit);
    } else this.#takeAuthored(commit);
    this.#judgeWatermark(commit);
    this.#judgeDerived(commit);
  }

  #takeAccess(commit: AcceptedCommit): void {
    const right = rightOf(commit);
    const waiting = [...this.#entries.values()].filter(({ entry }) => entry.eventId === right);
    const asking = waiting.find(({ ended }) => ended === undefined) ?? waiting[0];
    const list = this.#stored.get(instanceKey(ACL_DOC, SPACE_SCOPE_KEY));
    this.access.take(commit, list, right === undefined ? undefined : asking);
  }

  #store(commit: AcceptedCommit): void {
    for (const { id, scopeKey, op } of commit.changes) {
      const key = instanceKey(id, scopeKey);
      this.#stored.set(key, applyOperation(this.#stored.get(key), op));
    }
  }

  #arrive(entry: StreamEntry): void {
    const owner = this.#streamOf.get(entry.stream);
    const seen: SeenEntry = {
      entry,
      handler: owner?.handler ?? "?",
      piece: owner?.piece.id ?? ("?" as DocId),
      payload:
        (entry.payload as unknown as Payload | undefined) ?? this.#payloads.get(entry.eventId),
    };
    this.#entries.set(placeOf(entry), seen);
    const key = `${entry.stream} ${entry.eventId}`;
    this.#byEvent.set(key, [...(this.#byEvent.get(key) ?? []), seen]);
  }

  #takeAuthored(commit: AcceptedCommit): void {
    for (const { id, scopeKey, op } of commit.changes) {
      const key = instanceKey(id, scopeKey);
      this.#adoptPiece(id, key);
      if (!this.#cellOf.has(id)) continue;
      this.#cells.set(key, applyOperation(this.#cells.get(key), op));
      const { seq, session = "", principal = "" } = commit;
      for (const path of overwrittenPaths(op)) {
        this.#overwrites.push({ seq, session, principal, key, path });
      }
    }
    if (commit.changes.length > 0) this.#disturbances.push(commit.seq);
  }

  /** The pattern of a piece is what its document says. */
  #adoptPiece(id: DocId, key: InstanceKey): void {
    const piece = this.#pieces.get(id);
    const value = piece && (this.#stored.get(key) as { pattern?: { id?: string } } | undefined);
    if (piece && value?.pattern?.id) piece.pattern = value.pattern.id;
  }

  #takeDerived(commit: AcceptedCommit): void {
    const ends: { readonly seen: SeenEntry; readonly mark: EntryMark }[] = [];
    for (const mark of [...commit.marks].sort((a, b) => a.seq - b.seq || a.index - b.index)) {
      const seen = this.#entries.get(placeOf(mark));
      if (seen) ends.push({ seen, mark });
      else this.#complain("mark", `commit ${commit.seq} marks ${mark.eventId}, which no entry has`);
    }
    const succeeded = ends
      .filter(({ mark }) => !mark.duplicate && mark.status === undefined)
      .map(({ seen }) => seen);
    this.#judgeSends(commit, succeeded);
    for (const { seen, mark } of ends) this.#end(commit, seen, mark.status, mark.duplicate);
    for (const seen of this.#asRun(commit, succeeded)) this.#consequence(commit, seen);
    const misnamed = wrongNames(commit);
    if (misnamed) this.#complain("names", misnamed);
    this.#judgeCells(commit);
  }

  /** Every send of a run is an entry of the run's own commit, in order, and every entry there was sent (LT1). */
  #judgeSends(commit: AcceptedCommit, succeeded: readonly SeenEntry[]): void {
    const sends = new Sends(commit.appends.map((entry) => this.#entries.get(placeOf(entry))));
    for (const { entry, handler, payload, piece } of asLogged(succeeded, this.#lines(commit))) {
      if (payload === undefined) continue;
      const run = { payload, who: undefined, key: "", get: initialOf };
      for (const send of referenceRun(handler, run).sends) {
        const wrong = sends.take(streamIdFor(piece, send.handler), send.payload, entry.firedAt);
        if (wrong) this.#complain("sends", `commit ${commit.seq}: ${wrong}`);
      }
    }
    for (const { entry, payload } of sends.left) {
      const what = `${entry.eventId} (${payload?.k})`;
      this.#complain("sends", `commit ${commit.seq} appends ${what}, which nobody sent`);
    }
  }

  /**
   * The order of the runs of a wave: by arrival, but for the copies of what the wave sent itself, which run ahead of
   * whatever joins the wave after them. Where those ran, the lines of the log say.
   */
  #asRun(commit: AcceptedCommit, succeeded: readonly SeenEntry[]): readonly SeenEntry[] {
    const own = succeeded.filter(({ entry }) => entry.seq === commit.seq);
    if (own.length === 0 || own.length === succeeded.length) return succeeded;
    const lineOf = this.#lines(commit);
    const placed = succeeded.map((seen) => [seen, lineOf(seen)] as const);
    const at = new Map(placed);
    const arrived = succeeded.filter(({ entry }) => entry.seq !== commit.seq);
    const run = [...arrived];
    for (const copy of own) {
      // The lines of one piece say nothing of another's.
      const place = at.get(copy) ?? -1;
      const next = run.findIndex(
        (other) => other.piece === copy.piece && place >= 0 && (at.get(other) ?? -1) > place,
      );
      run.splice(next < 0 ? run.length : next, 0, copy);
    }
    return run;
  }

  /** Where a run's line stands among those that a commit adds to the log of its piece; below zero where it has none. */
  #lines({ changes }: AcceptedCommit): (seen: SeenEntry) => number {
    return ({ piece, payload }) => {
      const log = nodeIdFor(piece, "log");
      const lines = changes.flatMap(({ id, op }) => (id === log ? keysIn(op) : []));
      return lines.indexOf(payload?.k ?? "");
    };
  }

  #end(
    commit: AcceptedCommit,
    seen: SeenEntry,
    status: string | undefined,
    duplicate: true | undefined,
  ): void {
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
    this.access.judgeEnd(commit, seen, status);
    if (status === "errored") this.#judgeError(commit, seen);
    const before = this.entriesOf(entry.stream, entry.eventId).filter(
      (each) => each !== seen && each.ended !== undefined && !each.duplicate,
    );
    if (before.length > 0 && !this.compacted) {
      this.#complain("once", `${entry.eventId} was consequenced twice, at ${commit.seq} again`);
    }
    if (status === undefined) this.consequenced += 1;
    else this.errored += 1;
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

  /** Runs the reference handler at this place of the order. */
  #consequence(commit: AcceptedCommit, seen: SeenEntry): void {
    const { entry, handler, piece, payload } = seen;
    const { user, session } = entry.firedAt;
    if (payload === undefined) {
      this.#complain("oracle", `the payload of ${entry.eventId} was gone before it ended`);
      return;
    }
    const actor = { ...(user ? { user } : {}), session };
    const keyOf = (cell: string): InstanceKey =>
      instanceKey(
        nodeIdFor(piece, cell),
        resolveScopeKey(BOARD_CELLS[cell]?.scope ?? "space", actor),
      );
    const stream = { id: entry.stream, space: this.#space };
    const outcome = referenceRun(handler, {
      payload,
      who: user,
      key: deriveEventKey({ actor: user ?? null, event: entry.eventId, stream }),
      get: (cell) => this.#cells.get(keyOf(cell)) ?? initialOf(cell),
    });
    if (outcome.error !== undefined) {
      this.#complain("outcome", `${handler} ${payload.k} succeeded; it must end: ${outcome.error}`);
      return;
    }
    // Judged against the cells as they stood before the run: its own writes do not feed its reads.
    for (const write of outcome.writes) {
      if (!this.#superseded(commit, seen, keyOf(write.cell), write)) {
        this.#apply(keyOf(write.cell), write);
      }
    }
  }

  /** The firing session wrote over it after it fired (seed 001 §3d). */
  #superseded(
    commit: AcceptedCommit,
    { entry }: SeenEntry,
    key: InstanceKey,
    write: ReferenceWrite,
  ): boolean {
    // What a wave sends to itself is as old as the wave: nothing of the session is later.
    if (entry.seq === commit.seq) return false;
    const at: readonly string[] = "at" in write ? write.at : [];
    return this.#overwrites.some(
      (theirs) =>
        theirs.key === key &&
        theirs.seq > entry.seq &&
        theirs.seq < commit.seq &&
        theirs.session === entry.firedAt.session &&
        theirs.principal === entry.firedAt.user &&
        theirs.path.length <= at.length &&
        theirs.path.every((step, i) => step === at[i]),
    );
  }

  #apply(key: InstanceKey, write: ReferenceWrite): void {
    const { id } = parseInstanceKey(key);
    const name = this.#cellOf.get(id)?.name ?? "";
    const standing = this.#cells.get(key) ?? initialOf(name);
    if ("append" in write) {
      this.#cells.set(key, [...(standing as readonly JsonValue[]), write.append]);
    } else if ("add" in write) {
      this.#cells.set(key, Number(standing) + write.add);
    } else {
      const [field] = write.at;
      const value =
        field === undefined
          ? write.set
          : { ...(standing as Readonly<Record<string, JsonValue>>), [field]: write.set };
      this.#cells.set(key, value);
    }
  }

  /** What the commit itself wrote to cells is what the reference makes of the same events. */
  #judgeCells(commit: AcceptedCommit): void {
    const touched = new Set<InstanceKey>();
    for (const { id, scopeKey } of commit.changes) {
      if (this.#cellOf.has(id)) touched.add(instanceKey(id, scopeKey));
    }
    for (const key of this.#cells.keys()) touched.add(key);
    for (const key of touched) {
      const expected = this.#cells.get(key);
      const actual = this.#stored.get(key);
      if (jsonEqual((expected ?? null) as JsonValue, (actual ?? null) as JsonValue)) continue;
      this.#complain(
        "effects",
        `${this.describe(key)} after ${commit.seq}: ${differ(expected, actual)}`,
      );
      // One fault is told once.
      this.#cells.set(key, actual);
    }
  }

  #judgeWatermark(commit: AcceptedCommit): void {
    const { watermark } = commit;
    if (watermark === undefined) return;
    if (watermark < this.#watermark) {
      this.#complain("watermark", `W fell from ${this.#watermark} to ${watermark}`);
    }
    if (watermark >= commit.seq) {
      this.#complain("watermark", `W ${watermark} covers its own commit ${commit.seq}`);
    }
    this.#watermark = watermark;
    for (const { entry, ended } of this.#entries.values()) {
      if (ended === undefined && entry.seq <= watermark) {
        this.#complain(
          "watermark",
          `W ${watermark} covers ${entry.eventId} at ${entry.seq}, which has no end`,
        );
      }
    }
  }

  /**
   * A commit that moves W over everything that has been consequenced so far leaves what rests on handlers alone derived
   * from exactly that.
   */
  #judgeDerived(commit: AcceptedCommit): void {
    const { watermark } = commit;
    if (watermark === undefined || this.demandedFrom === undefined) return;
    if (commit.seq <= this.demandedFrom) return;
    for (const { entry, ended } of this.#entries.values()) {
      // A cascade's entry is as high as its wave, and its wave derives after it.
      if (ended !== undefined && entry.seq > watermark && entry.seq !== commit.seq) return;
    }
    for (const piece of this.#pieces.values()) {
      const expected = this.derived(piece.id);
      for (const name of HANDLER_FED) {
        const key = instanceKey(nodeIdFor(piece.id, name), SPACE_SCOPE_KEY);
        const actual = this.#stored.get(key);
        if (actual === undefined || jsonEqual(actual, expected[name] ?? null)) continue;
        this.#complain(
          "honest W",
          `W ${watermark} at ${commit.seq}, ${this.describe(key)}: ${differ(expected[name], actual)}`,
        );
      }
    }
  }

  /** What the commit table makes of a document. */
  stored(key: InstanceKey): JsonValue | undefined {
    return this.#stored.get(key);
  }

  describe(key: InstanceKey): string {
    const { id, scopeKey } = parseInstanceKey(key);
    const name = this.#cellOf.get(id)?.name ?? this.#derivedOf.get(id)?.name ?? id;
    return scopeKey === SPACE_SCOPE_KEY ? name : `${name} @ ${scopeKey.slice(0, 40)}`;
  }
}
