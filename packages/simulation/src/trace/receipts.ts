import { type AcceptedCommit, type EntryMark, receiptIdFor } from "@tidemark/protocol";

/** Receipts that stand: each handling that succeeded has one, written with its mark (R33). */
export class Receipts {
  readonly #standing = new Set<string>();

  take({ changes }: AcceptedCommit): void {
    for (const { id } of changes) if (id.startsWith("receipt:")) this.#standing.add(id);
  }

  /** The first success of a commit that left nothing behind. */
  missingIn({ changes, marks }: AcceptedCommit): EntryMark | undefined {
    const written = new Set(changes.map(({ id }) => id));
    return marks.find((mark) => {
      if (mark.status !== undefined || mark.duplicate) return false;
      const receipt = receiptIdFor(mark.eventId, mark.stream);
      return !written.has(receipt) && !this.#standing.has(receipt);
    });
  }
}
