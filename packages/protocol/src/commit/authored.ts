import { z } from "zod";
import type { BranchName, DocId, EventId, LocalSeq, Seq } from "../ids/ids.js";
import type { JsonValue, Path } from "../json/json-value.js";
import type { DocOperation } from "../patch/operations.js";
import type { ScopeKind } from "../scope/scope.js";
import type { FiredAt } from "./entry.js";
import {
  BranchNameSchema,
  DocIdSchema,
  EventIdSchema,
  LocalSeqSchema,
  PathSchema,
  PrincipalSchema,
  ScopeKindSchema,
  SeqSchema,
  SessionIdSchema,
  JsonValueSchema,
  TextSchema,
} from "./field-schemas.js";
import { DocOperationSchema } from "./operation-schemas.js";

/** A read that a commit rests on: what was at `path` as of `seq`. `shape`: its keys, not its values. */
export interface ConfirmedRead {
  readonly id: DocId;
  readonly scope?: ScopeKind;
  readonly path: Path;
  readonly seq: Seq;
  readonly kind: "value" | "shape";
}

/** What must hold of the store for the commit to be accepted; checked in order (ADM-22). */
export type Precondition =
  | {
      readonly kind: "entity-value-hash";
      readonly id: DocId;
      readonly scope?: ScopeKind;
      readonly hash: string;
    }
  | { readonly kind: "create-only"; readonly id: DocId; readonly scope?: ScopeKind };

/** An authored commit as a client sends it. Class, seq and identity are the server's to give. */
export interface AuthoredCommit {
  readonly localSeq: LocalSeq;
  readonly reads: readonly ConfirmedRead[];
  readonly ops: readonly DocOperation[];
  readonly preconditions?: readonly Precondition[];
  readonly branch?: BranchName;
}

/** The entry of an append, as a client may word it. Every other field is the server's (ADM-14). */
export interface AppendEntry {
  readonly eventId: EventId;
  readonly payload: JsonValue;
  readonly clientSeq?: number;
  /** Refused when it disagrees with the session's envelope, never corrected (ADM-11). */
  readonly firedAt?: FiredAt;
  readonly retryOf?: EventId;
  readonly rendererTrusted?: true;
  readonly runtimeInjectedEventKeys?: readonly string[];
}

/** An append of one event to one stream. */
export interface AppendRequest {
  readonly localSeq: LocalSeq;
  readonly stream: DocId;
  readonly entry: AppendEntry;
}

/** See {@link ConfirmedRead}. */
export const ConfirmedReadSchema = z.strictObject({
  id: DocIdSchema,
  scope: ScopeKindSchema.exactOptional(),
  path: PathSchema,
  seq: SeqSchema,
  kind: z.enum(["value", "shape"]),
});

/** See {@link Precondition}. */
export const PreconditionSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("entity-value-hash"),
    id: DocIdSchema,
    scope: ScopeKindSchema.exactOptional(),
    hash: TextSchema,
  }),
  z.strictObject({
    kind: z.literal("create-only"),
    id: DocIdSchema,
    scope: ScopeKindSchema.exactOptional(),
  }),
]);

/** See {@link AuthoredCommit}. */
export const AuthoredCommitSchema: z.ZodType<AuthoredCommit> = z.strictObject({
  localSeq: LocalSeqSchema,
  reads: z.array(ConfirmedReadSchema),
  ops: z.array(DocOperationSchema),
  preconditions: z.array(PreconditionSchema).exactOptional(),
  branch: BranchNameSchema.exactOptional(),
});

/** See {@link FiredAt}. */
export const FiredAtSchema: z.ZodType<FiredAt> = z.strictObject({
  user: PrincipalSchema.exactOptional(),
  session: SessionIdSchema,
  clientSeq: z.int().min(0).exactOptional(),
});

/** See {@link AppendEntry}. */
export const AppendEntrySchema: z.ZodType<AppendEntry> = z.strictObject({
  eventId: EventIdSchema,
  payload: JsonValueSchema,
  clientSeq: z.int().min(0).exactOptional(),
  firedAt: FiredAtSchema.exactOptional(),
  retryOf: EventIdSchema.exactOptional(),
  rendererTrusted: z.literal(true).exactOptional(),
  runtimeInjectedEventKeys: z.array(TextSchema).exactOptional(),
});

/** See {@link AppendRequest}. */
export const AppendRequestSchema: z.ZodType<AppendRequest> = z.strictObject({
  localSeq: LocalSeqSchema,
  stream: DocIdSchema,
  entry: AppendEntrySchema,
});
