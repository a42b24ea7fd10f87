import type { AcceptedCommit, JsonValue } from "@tidemark/protocol";

/** A result document, as far as it is read here (seed 001 §4). */
interface Memo {
  readonly requestHash: string;
  readonly pending?: boolean;
  readonly result?: JsonValue;
}

/**
 * Whether a derived commit is the answer to a request: waves select requests, and leave their answers to commits of
 * their own.
 */
export function isAnswer({ class: kind, marks, changes }: AcceptedCommit): boolean {
  const [change] = changes;
  if (kind !== "derived" || marks.length > 0 || changes.length !== 1) return false;
  const memo = change?.op.op === "set" ? memoIn(change.op.value) : undefined;
  return memo?.pending === false;
}

/** What of a document the simulator's derivations read: which request is selected is nothing to them, nor how it failed. */
export function readable(value: JsonValue): JsonValue {
  const memo = memoIn(value);
  return memo === undefined ? value : (memo.result ?? null);
}

function memoIn(value: JsonValue): Memo | undefined {
  const fields = Object(value) as Partial<Memo>;
  return typeof fields.requestHash === "string" ? (fields as Memo) : undefined;
}
