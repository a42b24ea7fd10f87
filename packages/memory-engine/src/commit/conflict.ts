import {
  getAt,
  jsonSameShape,
  pathsOverlap,
  touchedPaths,
  type Conflict,
  type JsonValue,
  type Path,
  type Seq,
  type ValueOperation,
} from "@tidemark/protocol";
import type { ResolvedRead } from "../engine-types.js";

/** What the store knows about one document instance, as the conflict check asks for it. */
export interface ConflictView {
  /** The newest seq of the store. */
  readonly storeHead: Seq;
  /** Seq of the newest stored change; 0 when never written. */
  readonly headSeq: Seq;
  /** Changes after a seq, oldest first; undefined where pruning removed some of them. */
  changesAfter(seq: Seq): readonly SeqOperation[] | undefined;
  /** The value as of a seq, or as of now. */
  valueAt(seq: Seq | "now"): JsonValue | undefined;
}

export interface SeqOperation {
  readonly seq: Seq;
  readonly op: ValueOperation;
}

/**
 * The seq that beat a confirmed read, or undefined while the read is current (protocol.md §2):
 * per document and path, so that writers of sibling keys merge (ADM-01, ADM-02). A shape read sees
 * keys and lengths, never values (ADM-03). A read from a seq that the store never reached was made of
 * another history (field fault DB-03) and is beaten. Where the history needed to tell is pruned, the read
 * counts as beaten: a refusal is repaired by reading again, an undetected conflict by nothing.
 */
export function conflictingSeq(read: ResolvedRead, view: ConflictView): Seq | undefined {
  if (read.seq > view.storeHead) return view.headSeq;
  if (view.headSeq <= read.seq) return undefined;
  const changes = view.changesAfter(read.seq);
  if (changes === undefined) return view.headSeq;
  const touching = newestTouching(changes, read.path);
  if (touching === undefined) return undefined;
  if (read.kind === "value") return touching.seq;
  const before = getAt(view.valueAt(read.seq), read.path);
  const now = getAt(view.valueAt("now"), read.path);
  return jsonSameShape(before, now) ? undefined : touching.seq;
}

/** Every confirmed read that is no longer current. */
export function conflictsOf(
  reads: readonly ResolvedRead[],
  viewOf: (read: ResolvedRead) => ConflictView,
): readonly Conflict[] {
  const conflicts: Conflict[] = [];
  for (const read of reads) {
    const seq = conflictingSeq(read, viewOf(read));
    if (seq === undefined) continue;
    const { id, scopeKey, path } = read;
    conflicts.push({ id, scopeKey, path, readSeq: read.seq, conflictingSeq: seq });
  }
  return conflicts;
}

/** The newest one: who read before it has to read again from there. */
function newestTouching(changes: readonly SeqOperation[], path: Path): SeqOperation | undefined {
  for (let at = changes.length - 1; at >= 0; at -= 1) {
    const change = changes[at];
    if (change !== undefined && touches(change.op, path)) return change;
  }
  return undefined;
}

function touches(op: ValueOperation, path: Path): boolean {
  return touchedPaths(op).some((touched) => pathsOverlap(touched, path));
}
