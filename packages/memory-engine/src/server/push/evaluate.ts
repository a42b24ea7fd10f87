import { parseInstanceKey, scopeApplies, type DocId, type Seq } from "@tidemark/protocol";
import type { Channel, TrackedRow } from "../space/channel.js";
import { frameText } from "./frame.js";
import type { PushBatch } from "./pending.js";
import type { RowText, RowTexts } from "./rows.js";

/** What every session of one flush shares. */
export interface FlushState {
  readonly batch: PushBatch | undefined;
  readonly rows: RowTexts;
  readonly seq: Seq;
  readonly watermark: Seq;
  readonly watermarkMoved: boolean;
}

/** A frame that is ready to go, and what the session holds once it went. */
export interface ReadyFrame {
  readonly text: string;
  readonly sent: readonly (readonly [row: TrackedRow, seq: Seq])[];
}

/** The order of one flush: sessions with derived changes they track come first (protocol.md §4). */
export function flushOrder(
  channels: Iterable<Channel>,
  batch: PushBatch | undefined,
): {
  readonly first: readonly Channel[];
  readonly followers: readonly Channel[];
  readonly rest: readonly Channel[];
} {
  const first: Channel[] = [];
  const followers: Channel[] = [];
  const rest: Channel[] = [];
  for (const channel of channels) {
    if (channel.dirty.size === 0) rest.push(channel);
    else if (tracksDerived(channel, batch)) first.push(channel);
    else followers.push(channel);
  }
  return { first, followers, rest };
}

function tracksDerived(channel: Channel, batch: PushBatch | undefined): boolean {
  for (const key of channel.dirty) if (batch?.rows.get(key)?.cover === "derived") return true;
  return false;
}

/** The session's frame of this flush; `undefined` when there is nothing to tell it. */
export function frameFor(channel: Channel, flush: FlushState): ReadyFrame | undefined {
  const frontiers = frontiersFor(channel, flush.batch);
  const { rows, sent } = rowsFor(channel, flush.rows);
  const idle =
    rows.length === 0 &&
    channel.gone.size === 0 &&
    channel.entryNews.size === 0 &&
    frontiers.length === 0 &&
    // That the space goes on is no news for one who may not read it.
    (channel.kind === "sender" || !flush.watermarkMoved) &&
    !channel.owed;
  if (idle) return undefined;
  const text = frameText({
    space: channel.space,
    seq: flush.seq,
    watermark: flush.watermark,
    reset: channel.reset,
    rows,
    gone: channel.reset ? [] : [...channel.gone],
    entries: [...channel.entryNews.values()],
    frontiers,
  });
  return { text, sent };
}

function rowsFor(
  channel: Channel,
  texts: RowTexts,
): { readonly rows: RowText[]; readonly sent: (readonly [TrackedRow, Seq])[] } {
  const rows: RowText[] = [];
  const sent: (readonly [TrackedRow, Seq])[] = [];
  const recipient = { user: channel.session.principal, session: channel.session.sessionId };
  for (const key of channel.dirty) {
    const row = channel.tracked.get(key);
    // Tracked sets are walked as the session, so that this never refuses; it is the last door.
    if (row === undefined || !scopeApplies(parseInstanceKey(key).scopeKey, recipient)) continue;
    const text = texts.row(key, row.sent, row.whole);
    if (text === undefined) continue;
    rows.push(text);
    sent.push([row, text.seq]);
  }
  return { rows, sent };
}

function frontiersFor(
  channel: Channel,
  batch: PushBatch | undefined,
): readonly { readonly stream: DocId; readonly seq: Seq }[] {
  if (batch === undefined || batch.frontiers.size === 0 || channel.streams.size === 0) return [];
  const told: { stream: DocId; seq: Seq }[] = [];
  for (const [stream, seq] of batch.frontiers) {
    if (channel.streams.has(stream)) told.push({ stream, seq });
  }
  return told;
}
