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
  streamIdFor,
} from "@tidemark/protocol";
import { asksAccess } from "./access-changes.js";
import { AccessOracle, rightOf, type WhoIs } from "./access-oracle.js";
import { BOARD_CELLS } from "./board.js";
import { BoardPieces } from "./board-pieces.js";
import { wrongAnswer, wrongNames } from "./commit-alone.js";
import { differ } from "./differ.js";
import {
  HANDLER_FED,
  initialOf,
  referenceDerived,
  referenceRun,
  type ReferenceWrite,
} from "./reference.js";
import { SeenEntries } from "./seen-entries.js";
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

/**
 * Reads the commit table of one space in its order and says what every document must hold: authored commits by their own
 * operations, consequences by the reference handlers. It asks the system for no value.
 */
export class Oracle {
  readonly #space: SpaceId;
  readonly #complain: Complain;
  readonly #pieces = new BoardPieces();
  readonly #entries: SeenEntries;
  /** What the reference says that cells hold. */
  readonly #cells = new Map<InstanceKey, JsonValue | undefined>();
  /** What the commits' own operations make of every document. */
  readonly #stored = new Map<InstanceKey, JsonValue | undefined>();
  readonly #overwrites: Overwrite[] = [];
  /** Who may what, and what became of those who asked for more. */
  readonly access: AccessOracle;
  #head = 0 as Seq;
  #watermark = 0 as Seq;
  /** From this seq on somebody has watched everything without a break; derivations are judged commit by commit. */
  demandedFrom: Seq | undefined;
  derivedCommits = 0;

  constructor(space: SpaceId, whoIs: WhoIs, complain: Complain) {
    this.#space = space;
    this.#complain = complain;
    this.access = new AccessOracle(whoIs, complain);
    this.#entries = new SeenEntries(complain);
  }

  get head(): Seq {
    return this.#head;
  }

  get watermark(): Seq {
    return this.#watermark;
  }

  get entries(): SeenEntries {
    return this.#entries;
  }

  /** A piece that the plan names. */
  knowPiece(id: DocId, pattern: string): void {
    this.#pieces.know(id, pattern);
  }

  /** Whether a stream's handler asks for access. */
  asks(stream: string): boolean {
    return asksAccess(this.#pieces.stream(stream as DocId)?.handler ?? "");
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
    const version = this.#pieces.patternOf(piece) === "board2" ? 2 : 1;
    return referenceDerived(
      (cell) => this.cell(piece, cell, SPACE_SCOPE_KEY) ?? initialOf(cell),
      version,
    );
  }

  /** Every cell instance that was ever written, with what it must hold. */
  get cells(): Iterable<[InstanceKey, JsonValue | undefined]> {
    return this.#cells;
  }

  #take(commit: AcceptedCommit): void {
    if (commit.seq !== this.#head + 1) {
      this.#complain("sequence", `commit ${commit.seq} follows ${this.#head}`);
    }
    this.#head = commit.seq;
    const wrong = wrongAnswer(commit, (key) => this.#stored.get(key));
    if (wrong) this.#complain("answer", wrong);
    this.#store(commit);
    for (const entry of commit.appends) {
      this.#entries.arrive(entry, this.#pieces.stream(entry.stream));
    }
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
    const list = this.#stored.get(instanceKey(ACL_DOC, SPACE_SCOPE_KEY));
    this.access.take(commit, list, right === undefined ? undefined : this.#entries.ofEvent(right));
  }

  #store(commit: AcceptedCommit): void {
    for (const { id, scopeKey, op } of commit.changes) {
      const key = instanceKey(id, scopeKey);
      this.#stored.set(key, applyOperation(this.#stored.get(key), op));
    }
  }

  #takeAuthored(commit: AcceptedCommit): void {
    for (const { id, scopeKey, op } of commit.changes) {
      const key = instanceKey(id, scopeKey);
      this.#pieces.adopt(id, this.#stored.get(key));
      if (this.#pieces.cell(id) === undefined) continue;
      this.#cells.set(key, applyOperation(this.#cells.get(key), op));
      const { seq, session = "", principal = "" } = commit;
      for (const path of overwrittenPaths(op)) {
        this.#overwrites.push({ seq, session, principal, key, path });
      }
    }
    if (commit.changes.length > 0) this.#entries.disturbed(commit.seq);
  }

  #takeDerived(commit: AcceptedCommit): void {
    const ends: { readonly seen: SeenEntry; readonly mark: EntryMark }[] = [];
    for (const mark of [...commit.marks].sort((a, b) => a.seq - b.seq || a.index - b.index)) {
      const seen = this.#entries.at(mark);
      if (seen) ends.push({ seen, mark });
      else this.#complain("mark", `commit ${commit.seq} marks ${mark.eventId}, which no entry has`);
    }
    const succeeded = ends
      .filter(({ mark }) => !mark.duplicate && mark.status === undefined)
      .map(({ seen }) => seen);
    this.#judgeSends(commit, succeeded);
    for (const { seen, mark } of ends) {
      if (!mark.duplicate) this.access.judgeEnd(commit, seen, mark.status);
      this.#entries.end(commit, seen, mark);
    }
    for (const seen of this.#asRun(commit, succeeded)) this.#consequence(commit, seen);
    const misnamed = wrongNames(commit);
    if (misnamed) this.#complain("names", misnamed);
    this.#judgeCells(commit);
  }

  /** Every send of a run is an entry of the run's own commit, in order, and every entry there was sent (LT1). */
  #judgeSends(commit: AcceptedCommit, succeeded: readonly SeenEntry[]): void {
    const sends = new Sends(commit.appends.map((entry) => this.#entries.at(entry)));
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
    const name = this.#pieces.cell(id) ?? "";
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
      if (this.#pieces.cell(id) !== undefined) touched.add(instanceKey(id, scopeKey));
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
    for (const { entry, ended } of this.#entries.all) {
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
    for (const { entry, ended } of this.#entries.all) {
      // A cascade's entry is as high as its wave, and its wave derives after it.
      if (ended !== undefined && entry.seq > watermark && entry.seq !== commit.seq) return;
    }
    for (const piece of this.#pieces.ids) {
      const expected = this.derived(piece);
      for (const name of HANDLER_FED) {
        const key = instanceKey(nodeIdFor(piece, name), SPACE_SCOPE_KEY);
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
    const name = this.#pieces.nameOf(id);
    return scopeKey === SPACE_SCOPE_KEY ? name : `${name} @ ${scopeKey.slice(0, 40)}`;
  }
}
