import type { DocId, JsonValue, Seq, StreamEntry, ValueOperation } from "@tidemark/protocol";
import type { Payload } from "./reference.js";

/** An entry that the commit table showed, and what became of it. */
export interface SeenEntry {
  readonly entry: StreamEntry;
  readonly handler: string;
  readonly piece: DocId;
  /** A consumed entry sheds its payload: it is then known from who sent it. */
  payload: Payload | undefined;
  /** The seq of the derived commit that ended it. */
  ended?: Seq;
  status?: string;
  duplicate?: true;
}

/** The entries that a derived commit appends, each to be owed to one send. */
export class Sends {
  readonly left: SeenEntry[];

  constructor(entries: readonly (SeenEntry | undefined)[]) {
    this.left = entries.filter((entry) => entry !== undefined);
  }

  /** The next entry of the stream is this send's, under who acted in its run (LT6). Says what is wrong with it. */
  take(stream: DocId, payload: Payload, actor: StreamEntry["firedAt"]): string | undefined {
    const at = this.left.findIndex(({ entry }) => entry.stream === stream);
    const [seen] = at < 0 ? [] : this.left.splice(at, 1);
    if (!seen) return `lacks the entry of a send (${payload.k})`;
    seen.payload ??= payload;
    const { user, session } = seen.entry.firedAt;
    if (user !== actor.user || session !== actor.session) {
      return `sends ${payload.k} as ${user} ${session}, its run acted as ${actor.user} ${actor.session}`;
    }
    return seen.payload.k === payload.k && seen.payload.n === payload.n
      ? undefined
      : `sends ${seen.payload.k} where ${payload.k} was due`;
  }
}

/**
 * Entries in the order in which their runs were sealed, as the lines of the log tell it. What a run sent itself is known
 * by its payload once the sender's turn has been: whoever takes an entry says so before the next.
 */
export function* asLogged(
  entries: readonly SeenEntry[],
  lineOf: (entry: SeenEntry) => number,
): Generator<SeenEntry> {
  const waiting = new Set(entries);
  while (waiting.size > 0) {
    const known = [...waiting].filter(({ payload }) => payload !== undefined);
    const [first, ...others] = known;
    if (first === undefined) return;
    const next = others.reduce((best, each) => (lineOf(each) < lineOf(best) ? each : best), first);
    waiting.delete(next);
    yield next;
  }
}

/** The events that an operation on a log has lines of. */
export function keysIn(op: ValueOperation): readonly string[] {
  if (op.op === "delete") return [];
  const lines =
    op.op === "set"
      ? (op.value as readonly JsonValue[])
      : op.value.map((patch) => ("value" in patch ? patch.value : null));
  return lines.map((line) => String((line as { readonly k?: string } | null)?.k));
}
