import { parseInstanceKey, type Held, type InstanceKey, type Seq } from "@tidemark/protocol";
import type { PendingRow } from "./pending.js";

/** The text of one row of a frame, and the seq it brings its reader to. */
export interface RowText {
  readonly text: string;
  readonly seq: Seq;
}

/**
 * The rows of one flush as JSON text. A row's text is made once, however many sessions get it: they
 * differ by who they are, never by how a row they share is written.
 */
export class RowTexts {
  readonly #read: (key: InstanceKey) => Held;
  readonly #pending: ReadonlyMap<InstanceKey, PendingRow>;
  readonly #whole = new Map<InstanceKey, RowText>();
  readonly #patches = new Map<InstanceKey, RowText & { readonly from: Seq }>();

  constructor(
    read: (key: InstanceKey) => Held,
    pending: ReadonlyMap<InstanceKey, PendingRow> = new Map(),
  ) {
    this.#read = read;
    this.#pending = pending;
  }

  /**
   * The row for a reader who holds the instance at `sent`: a patch where every change since was one,
   * the whole value otherwise and on first sight, nothing where the reader is already there (R26).
   * With `whole`, what the reader holds lies further back than this flush, so that no patch fits.
   */
  row(key: InstanceKey, sent: Seq | undefined, whole = false): RowText | undefined {
    const pending = this.#pending.get(key);
    if (sent !== undefined && pending !== undefined && !whole) {
      if (pending.seq <= sent) return undefined;
      if (pending.ops !== undefined && sent < pending.firstSeq) return this.#patch(pending, sent);
    }
    return this.#wholeRow(key);
  }

  #patch(pending: PendingRow, from: Seq): RowText {
    const cached = this.#patches.get(pending.key);
    if (cached !== undefined && cached.from === from) return cached;
    const patch = JSON.stringify({ from, ops: pending.ops });
    const head = rowHead(pending.key, pending.seq, pending.cover);
    const made = { text: `${head},"patch":${patch}}`, seq: pending.seq, from };
    this.#patches.set(pending.key, made);
    return made;
  }

  #wholeRow(key: InstanceKey): RowText {
    const cached = this.#whole.get(key);
    if (cached !== undefined) return cached;
    const { value, seq, coverClass } = this.#read(key);
    const head = rowHead(key, seq, coverClass ?? "authored");
    const rest = value === undefined ? `"absent":true` : `"value":${JSON.stringify(value)}`;
    const made = { text: `${head},${rest}}`, seq };
    this.#whole.set(key, made);
    return made;
  }
}

function rowHead(key: InstanceKey, seq: Seq, cover: string): string {
  const { id, scopeKey } = parseInstanceKey(key);
  return `{"id":${JSON.stringify(id)},"scopeKey":${JSON.stringify(scopeKey)},"seq":${seq},"cover":"${cover}"`;
}
