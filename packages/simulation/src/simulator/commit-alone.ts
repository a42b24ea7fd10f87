import {
  type AcceptedCommit,
  instanceKey,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";
import { storedMemo } from "@tidemark/runtime";
import { isAnswer } from "../trace/answers.js";

/** Every event that a commit ends is named by it, and no other. */
export function wrongNames({ seq, marks, consequenceOf = [] }: AcceptedCommit): string | undefined {
  const ended = marks.filter((mark) => !mark.duplicate).map((mark) => String(mark.eventId));
  const named = consequenceOf.map(String);
  const same = [...new Set(ended)].sort().join() === [...new Set(named)].sort().join();
  return same ? undefined : `commit ${seq} marks [${ended}] and names [${named}]`;
}

/** An answer lands on the request that is selected and waits for it, and on no other (seed 001 §5). */
export function wrongAnswer(
  commit: AcceptedCommit,
  before: (key: InstanceKey) => JsonValue | undefined,
): string | undefined {
  const [change] = commit.changes;
  if (change === undefined || change.op.op !== "set" || !isAnswer(commit)) return undefined;
  const answered = storedMemo(change.op.value);
  const waiting = storedMemo(before(instanceKey(change.id, change.scopeKey)));
  if (waiting?.key === answered?.key && waiting?.settled === false) return undefined;
  const what =
    waiting === undefined ? "nothing" : waiting.settled ? "no answer any more" : "another";
  return `commit ${commit.seq} answers a request where ${what} was waited for`;
}
