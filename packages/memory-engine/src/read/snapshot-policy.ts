/** What has been patched since the last full value of a document. */
export interface PatchedSince {
  readonly ops: number;
  /** Characters of JSON text of those patches. */
  readonly patchBytes: number;
  /** Characters of JSON text of the value, roughly. */
  readonly valueBytes: number;
}

/** A cold read replays at most this many patches. */
export const SNAPSHOT_EVERY_OPS = 512;

/** Below this a snapshot costs more than the patches it saves. */
export const SNAPSHOT_MIN_BYTES = 4_096;

/**
 * Whether to store the whole value beside the patch: after many patches, or once they weigh as
 * much as the value. So a large text is rewritten once per 512 keystrokes, not at each.
 */
export function shouldSnapshot(since: PatchedSince): boolean {
  if (since.ops >= SNAPSHOT_EVERY_OPS) return true;
  return since.patchBytes >= Math.max(SNAPSHOT_MIN_BYTES, since.valueBytes);
}
