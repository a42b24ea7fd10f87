import { z } from "zod";
import {
  type DocId,
  type EventId,
  type HolderId,
  isDocId,
  isEventId,
  isHolderId,
  isLocalSeq,
  isSeq,
  isSpaceId,
  type LocalSeq,
  type Seq,
  type SpaceId,
} from "../ids/ids.js";
import { isScopeKey, isScopeKind, type ScopeKey, type ScopeKind } from "../scope/scope.js";
/** Longer messages are cut before they are sent. In UTF-16 code units. */
export const MAX_MESSAGE_LENGTH = 4096;
const MAX_TEXT_LENGTH = 1024;

const docIdField = z.custom<DocId>(isDocId);
const eventIdField = z.custom<EventId>(isEventId);
const spaceIdField = z.custom<SpaceId>(isSpaceId);
const holderIdField = z.custom<HolderId>(isHolderId);
const seqField = z.custom<Seq>(isSeq);
const localSeqField = z.custom<LocalSeq>(isLocalSeq);
const scopeKeyField = z.custom<ScopeKey>(isScopeKey);
const scopeKindField = z.custom<ScopeKind>(isScopeKind);
const textField = z.string().max(MAX_TEXT_LENGTH);
const pathField = z.array(z.union([z.string(), z.number().int().nonnegative()])).max(512);

function shape<N extends string, C extends string, D extends z.ZodRawShape>(
  name: N,
  code: C | readonly [C, ...C[]],
  details: D,
) {
  const codes = (typeof code === "string" ? [code] : code) as readonly [C, ...C[]];
  return z.object({
    name: z.literal(name),
    code: z.enum(codes),
    message: z.string().max(MAX_MESSAGE_LENGTH),
    details: z.object(details),
  });
}

/** The wire form of every error, told apart by `name`. Unknown fields are dropped. */
export const WireErrorSchema = z.discriminatedUnion("name", [
  shape("ConflictError", "conflict", {
    conflicts: z.array(
      z.object({
        id: docIdField,
        scopeKey: scopeKeyField,
        path: pathField,
        readSeq: seqField,
        conflictingSeq: seqField,
      }),
    ),
  }),
  shape("AuthorizationError", "unauthorized", {
    permanentEvidence: z.boolean().exactOptional(),
    aclRevision: z.number().int().nonnegative().exactOptional(),
    retriable: z.boolean().exactOptional(),
    sessionRevoked: z.boolean().exactOptional(),
  }),
  shape("DuplicateEventError", "duplicate-event", {
    eventId: eventIdField,
    seq: seqField,
    foreign: z.literal(true).optional(),
  }),
  shape("ProtocolError", "protocol", { path: pathField.exactOptional() }),
  shape("LeaseError", "lease", {
    space: spaceIdField.exactOptional(),
    holder: holderIdField.exactOptional(),
  }),
  shape("PreconditionError", "precondition", { index: z.number().int().nonnegative() }),
  shape("ResolutionError", "resolution", { eventId: eventIdField.exactOptional() }),
  shape("SpeculativeBasisError", "speculative-basis", { localSeq: localSeqField.exactOptional() }),
  shape("ValueError", "value", {
    path: pathField,
    reason: z.enum([
      "undefined",
      "function",
      "symbol",
      "bigint",
      "not-plain",
      "not-finite",
      "lone-surrogate",
      "cycle",
      "too-deep",
      "too-large",
      "too-many-keys",
      "key-too-long",
      "unreadable",
    ]),
  }),
  shape("PatchError", "patch", {
    path: pathField,
    reason: z.enum([
      "no-container",
      "no-document",
      "not-a-list",
      "not-a-number",
      "not-text-or-list",
      "bad-index",
      "bad-value",
      "bad-path",
      "too-deep",
      "root-removal",
    ]),
    index: z.number().int().nonnegative().exactOptional(),
  }),
  shape("ScopeError", ["scope", "no-acting-user", "no-acting-session"], {
    reason: z.enum(["no-acting-user", "no-acting-session", "malformed"]),
  }),
  shape("HistoryHorizonError", "history-horizon", { requested: seqField, horizon: seqField }),
  shape("StorageError", "storage", {
    kind: z.enum(["io", "full", "readonly", "corrupt", "newer", "not-a-store"]),
  }),
  shape("NarrowingUnsupportedError", "narrowing-unsupported", {
    id: docIdField.exactOptional(),
    scope: scopeKindField.exactOptional(),
  }),
  shape("FrameError", "frame", { builtin: textField.exactOptional() }),
  shape("UnknownPatternError", "unknown-pattern", {
    patternId: textField.exactOptional(),
    version: textField.exactOptional(),
  }),
  shape("TimeoutError", "timeout", { afterMs: z.number().nonnegative().exactOptional() }),
  shape("ConnectionError", "connection", { reason: textField.exactOptional() }),
  shape("EventDeliveryError", "event-delivery", {
    kind: z.enum(["errored", "refused", "dropped", "needs-attention", "append-refused"]),
    reason: textField,
    eventId: eventIdField.exactOptional(),
  }),
  shape("LimitError", "limit", {
    limit: textField,
    max: z.number(),
    actual: z.number().exactOptional(),
  }),
  z.object({
    name: z.literal("TidemarkError"),
    code: z.string().max(64),
    message: z.string().max(MAX_MESSAGE_LENGTH),
    details: z.object({}),
  }),
]);

/** An error as it travels. */
export type WireError = z.infer<typeof WireErrorSchema>;
