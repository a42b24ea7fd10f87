import type { AcceptedCommit } from "@tidemark/protocol";
import type { CommitAction, SentEntry } from "../model/action.js";
import type { Contribution, Pos } from "../model/state.js";
import { posOf, type SpaceTrace } from "./space-trace.js";

/** Reads a derived commit into the model's step: what landed of the wave, what fell, where W and the frontiers went. */
export function readWave(
  trace: SpaceTrace,
  process: string,
  commit: AcceptedCommit,
  ahead: readonly number[],
): void {
  const { follower } = trace;
  const action = { do: "commit", process, falls: [], writes: true, sent: [] } as const;
  const wrong = whatIsWrong(trace, process, commit);
  if (wrong !== undefined) {
    follower.depart(action, wrong);
    return;
  }
  const ended = new Set(commit.marks.map(posOf));
  const sent = sentIn(trace, commit, ended);
  tellLate(trace, process, commit, sent);
  withholdCopies(trace, process, sent);
  if (commit.watermark !== undefined) trace.prove(process);
  const contributions = follower.tenure(process)?.closing?.contributions ?? [];
  const mistaken = wrongEnd(commit, contributions);
  if (mistaken !== undefined) {
    follower.depart(action, mistaken);
    return;
  }
  follower.act({
    ...action,
    falls: contributions.filter(({ pos }) => pos > 0 && !ended.has(pos)).map(({ pos }) => pos),
    sent,
    content: hasContent(commit),
    frontiers: Object.fromEntries(commit.frontiers.map(({ stream, seq }) => [stream, seq])),
    ...watermarkOf(trace, commit, ahead),
  });
}

/** What no step of the model tells: what is written beside the marks, and the names of what ended. */
function whatIsWrong(
  { follower, receipts, writes }: SpaceTrace,
  process: string,
  commit: AcceptedCommit,
): string | undefined {
  const missing = receipts.missingIn(commit);
  if (missing !== undefined) return `${missing.eventId} is marked as done without what it did`;
  const { applied = Number.POSITIVE_INFINITY } = follower.tenure(process)?.closing ?? {};
  const lost = writes.replacedUnseen(commit, applied);
  if (lost !== undefined)
    return `it replaces ${lost.change.id} over ${lost.seq}, which its wave never saw`;
  return wrongNames(commit);
}

/** More than the watermark document and basis rows (R8). */
function hasContent({ appends, marks, changes, watermark }: AcceptedCommit): boolean {
  const own = watermark === undefined ? 0 : 1;
  return appends.length > 0 || marks.length > 0 || changes.length > own;
}

function watermarkOf(
  { follower }: SpaceTrace,
  { watermark }: AcceptedCommit,
  ahead: readonly number[],
): Pick<CommitAction, "watermark" | "behind"> {
  if (watermark === undefined) return {};
  const causes = ahead.map((seq) => causeOf(follower.state.entries, seq));
  return causes.length === 0 ? { watermark } : { watermark, behind: Math.min(...causes) };
}

/** A derived change counts as the latest input that it is the consequence of. */
function causeOf(
  entries: readonly { readonly seq: number; readonly endedAt?: number }[],
  seq: number,
): number {
  const caused = entries.filter(({ endedAt }) => endedAt === seq).map((entry) => entry.seq);
  return caused.length === 0 ? seq : Math.max(...caused);
}

/** What had joined the wave unseen: the run that ended last, entries passed over, and notices. */
function tellLate(
  trace: SpaceTrace,
  process: string,
  { marks }: AcceptedCommit,
  sent: readonly SentEntry[],
): void {
  const { follower } = trace;
  const { running, closing } = follower.tenure(process) ?? {};
  if (closing === undefined) return;
  const lands =
    running !== undefined && running.pos > 0
      ? marks.some((mark) => posOf(mark) === running.pos)
      : sent.some(({ copy, ended }) => ended && copy === running?.event);
  if (running?.ended !== undefined && lands) trace.sealRun(process, true);
  const told = new Set(closing.contributions.map(({ pos }) => pos));
  for (const mark of marks) {
    const pos = posOf(mark);
    if (told.has(pos)) continue;
    if (mark.duplicate) follower.act({ do: "passOver", process, pos, closed: true });
    else if (mark.status === "dropped") follower.act({ do: "drop", process, pos, closed: true });
  }
}

function sentIn(
  trace: SpaceTrace,
  { appends }: AcceptedCommit,
  ended: ReadonlySet<Pos>,
): readonly SentEntry[] {
  return appends.map((entry) => ({
    pos: posOf(entry),
    stream: entry.stream,
    event: entry.eventId,
    copy: trace.keyOf(entry),
    ended: ended.has(posOf(entry)),
    ...(trace.asks(entry.stream) ? { asks: true as const } : {}),
  }));
}

/** Copies that ran, asked for access, and leave nothing of it (decision 21). */
function withholdCopies(trace: SpaceTrace, process: string, sent: readonly SentEntry[]): void {
  const { follower } = trace;
  for (const { copy, ended, asks } of sent) {
    if (ended || !asks || copy === undefined) continue;
    const { running, closing } = follower.tenure(process) ?? {};
    if (running?.ended !== undefined && running.event === copy) trace.sealRun(process, true);
    const ran = closing?.contributions.some(({ pos, event }) => pos === 0 && event === copy);
    if (ran || running?.event === copy) follower.act({ do: "withhold", process, event: copy });
  }
}

/** The end that is told is the end there was (R14). */
function wrongEnd(
  { marks }: AcceptedCommit,
  contributions: readonly Contribution[],
): string | undefined {
  for (const mark of marks) {
    const made = contributions.find(({ pos }) => pos === posOf(mark));
    const failed = mark.status === "errored" || mark.status === "refused";
    if (made?.kind === "error" && !failed)
      return `${mark.eventId} is marked as done, and its handler threw`;
  }
  return undefined;
}

/** Every event that ended is named, and no other; one passed over is not named again (R1). */
function wrongNames({ seq, marks, consequenceOf = [] }: AcceptedCommit): string | undefined {
  const ended = new Set(
    marks.filter((mark) => !mark.duplicate).map((mark) => String(mark.eventId)),
  );
  const named = new Set(consequenceOf.map(String));
  const same = ended.size === named.size && [...ended].every((event) => named.has(event));
  return same ? undefined : `commit ${seq} ends [${[...ended]}] and names [${[...named]}]`;
}
