import {
  isTidemarkError,
  parseInstanceKey,
  resolveScopeKey,
  instanceKey,
  type Cursor,
  type Held,
  type InstanceKey,
  type Seq,
} from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";
import type { Channel } from "../space/channel.js";
import { linkSignature } from "../watch/signature.js";
import { isPieceKey, ROOT_ALONE } from "../watch/tracker.js";
import { walkRoot, type ReadInstance, type WalkContext } from "../watch/walk.js";
import { PendingPush, type PushBatch } from "./pending.js";

/** What happened since a cursor, and how the store was at it. */
export interface Resume {
  readonly batch: PushBatch | undefined;
  readonly at: ReadInstance;
}

/**
 * Whether a cursor can be gone on from, and what has happened since (R26, field fault SY-02): it
 * must be of this history, not ahead of the log, and not older than what is kept.
 */
export function resumeFrom(engine: Engine, cursor: Cursor, maxCommits: number): Resume | undefined {
  const head = engine.head();
  const { seq } = cursor;
  if (cursor.historyId !== engine.historyId || seq > head) return undefined;
  if (head - seq > maxCommits || seq < engine.horizon()) return undefined;
  try {
    const pending = new PendingPush();
    for (const commit of engine.commitsSince(seq, maxCommits)) pending.add(commit);
    return { batch: pending.take(), at: readerAt(engine, seq) };
  } catch (error) {
    if (isTidemarkError(error, "history-horizon")) return undefined;
    throw error;
  }
}

/**
 * Tells the channel what its session still holds from before the cursor. Where no tracked document
 * moved its links since, the set it tracked then is the set it tracks now; else the watches are
 * walked once more in the store as it was at the cursor.
 */
export function restoreHeld(
  channel: Channel,
  resume: Resume,
  now: ReadInstance,
  walk: WalkContext,
): void {
  const changed = resume.batch?.rows;
  const then = movedLinks(channel, resume, now)
    ? trackedThen(channel, resume, walk)
    : [...channel.tracked.keys()];
  for (const key of then) {
    const row = channel.tracked.get(key);
    if (row === undefined) {
      channel.gone.add(key);
    } else if (changed?.has(key) === true) {
      row.sent = resume.at(key).seq;
      row.whole = true;
    } else {
      row.sent = now(key).seq;
      channel.dirty.delete(key);
    }
  }
}

function readerAt(engine: Engine, at: Seq): ReadInstance {
  const cache = new Map<InstanceKey, Held>();
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const { id, scopeKey } = parseInstanceKey(key);
    const held = engine.read(id, scopeKey, { at });
    cache.set(key, held);
    return held;
  };
}

function movedLinks(channel: Channel, resume: Resume, now: ReadInstance): boolean {
  if (resume.batch === undefined) return false;
  for (const key of resume.batch.rows.keys()) {
    if (!channel.tracked.has(key)) continue;
    if (linkSignature(now(key).value) !== linkSignature(resume.at(key).value)) return true;
  }
  return false;
}

function trackedThen(
  channel: Channel,
  resume: Resume,
  walk: WalkContext,
): ReadonlySet<InstanceKey> {
  const reached = new Set<InstanceKey>();
  for (const watch of channel.watches) {
    const roots: InstanceKey[] = [];
    if (watch.root !== undefined) {
      const scopeKey = resolveScopeKey(watch.root.scope ?? "space", channel.actor);
      roots.push(instanceKey(watch.root.id, scopeKey));
    }
    if (watch.pieces === true) roots.push(...piecesThen(channel, resume));
    for (const root of roots) {
      const selector = watch.selector ?? ROOT_ALONE;
      for (const key of walkRoot(root, selector, channel.actor, resume.at, walk)) reached.add(key);
    }
  }
  return reached;
}

/** Every piece that stood at the cursor: those of now, and those that went since. */
function piecesThen(channel: Channel, resume: Resume): readonly InstanceKey[] {
  const known = new Set([...channel.tracked.keys(), ...(resume.batch?.rows.keys() ?? [])]);
  return [...known].filter((key) => isPieceKey(key) && resume.at(key).value !== undefined);
}
