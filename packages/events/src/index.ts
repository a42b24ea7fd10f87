export {
  DEFAULT_COMPACTION_POLICY,
  mayCompact,
  planCompaction,
  shedsPayload,
  type CompactionEntry,
  type CompactionInput,
  type CompactionPolicy,
} from "./compaction/plan.js";
export { compareArrival, decidePending, type PendingDecision } from "./drain/classify.js";
export {
  admitAppend,
  duplicateOf,
  type AppendEnvelope,
  type AppendState,
  type AppendVerdict,
} from "./entry/admission.js";
export { stampCarried, type CarriedEntry, type CarryingCommit } from "./entry/carried.js";
export {
  applyMark,
  consequencesOf,
  duplicateMarkFor,
  markFor,
  MAX_END_TEXT,
  outcomeOf,
  receiptFor,
  type EntryEnd,
  type EntryOutcome,
  type EntryPlace,
} from "./entry/end.js";
export { parseAuthoredEntry, type AuthoredEntry } from "./entry/schema.js";
export {
  mintEventId,
  openSendOrigin,
  scopeCallerEventId,
  type SendOrigin,
} from "./identity/event-id.js";
export { deriveEventKey, EVENT_KEY_PREFIX, type EventKeyInput } from "./identity/event-key.js";
export { canonicalStream } from "./identity/stream-link.js";
export { markEvent, marksIn, marksOf, marksProblem, type EventMarks } from "./trust/event-marks.js";
export { advanceFrontier, isBehindFrontier, type FrontierEntry } from "./watermark/frontier.js";
