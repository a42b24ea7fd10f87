import { z } from "zod";
import { ACL_LEVELS, type AclLevel } from "../acl/acl.js";
import type { CommitClass } from "../commit/commit-class.js";
import { ENTRY_STATUSES, type EntryStatus, type Frontier } from "../commit/entry.js";
import {
  DocIdSchema,
  EventIdSchema,
  JsonValueSchema,
  ScopeKeySchema,
  SeqSchema,
  SpaceIdSchema,
  TextSchema,
} from "../commit/field-schemas.js";
import { PatchOpSchema } from "../commit/operation-schemas.js";
import { type WireError, WireErrorSchema } from "../errors/wire-error.js";
import type { DocId, EventId, Seq, SpaceId } from "../ids/ids.js";
import type { JsonValue } from "../json/json-value.js";
import type { PatchOp } from "../patch/operations.js";
import type { ScopeKey } from "../scope/scope.js";
import type { ClientRequest, RequestId } from "./client-messages.js";

interface RowHead {
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
  /** Seq of the instance's last change. */
  readonly seq: Seq;
  /** Class of the commit at `seq`. */
  readonly cover: CommitClass;
}

/**
 * One instance in a frame (R26): its whole value on first sight and on resync, else a patch against
 * the value that the client holds at `patch.from`, or the word that it is absent.
 */
export type Row =
  | (RowHead & { readonly value: JsonValue })
  | (RowHead & { readonly patch: { readonly from: Seq; readonly ops: readonly PatchOp[] } })
  | (RowHead & { readonly absent: true });

/** An instance that left the tracked set. */
export interface GoneRow {
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
}

/** How one of the session's own entries stands. `unknown`: it is not in the stream any more. */
export type EntryState =
  | {
      readonly stream: DocId;
      readonly eventId: EventId;
      readonly seq: Seq;
      readonly index: number;
      readonly consequenced?: true;
      readonly status?: EntryStatus;
      readonly error?: string;
      readonly reason?: string;
    }
  | { readonly stream: DocId; readonly eventId: EventId; readonly unknown: true };

/** What a session sees of one flush of one space; atomic. */
export interface FrameMessage {
  readonly type: "frame";
  readonly space: SpaceId;
  /** The space seq that the frame brings the session to. */
  readonly seq: Seq;
  readonly watermark: Seq;
  /** Resync: drop what is held of the space first. */
  readonly reset?: true;
  readonly rows: readonly Row[];
  readonly gone: readonly GoneRow[];
  readonly entries: readonly EntryState[];
  readonly frontiers: readonly Frontier[];
}

/** What a client signs to authenticate. Single use, bound to server and connection. */
export interface ChallengeMessage {
  readonly type: "challenge";
  readonly version: number;
  readonly serverId: string;
  readonly challenge: string;
  /** Wall ms of the server. */
  readonly expiresAt: number;
}

/** What each request is answered with. */
export interface Results {
  /** `resumed`: the server knew this open of the session. */
  readonly auth: { readonly resumed: boolean };
  readonly "space.create": { readonly seq: Seq };
  readonly "space.open": {
    readonly seq: Seq;
    readonly watermark: Seq;
    readonly historyId: string;
    readonly level: AclLevel;
    /** The frames go on from the cursor; else the first frame is a resync. */
    readonly resumed: boolean;
  };
  readonly "space.close": Readonly<Record<never, never>>;
  readonly logout: Readonly<Record<never, never>>;
  readonly "watch.set": Readonly<Record<never, never>>;
  readonly commit: { readonly seq: Seq };
  readonly append: { readonly seq: Seq; readonly index: number };
}

/** The kinds of request. */
export type RequestType = ClientRequest["type"];

/** The answer to a request that was done. */
export interface OkMessage<T extends RequestType = RequestType> {
  readonly type: "ok";
  readonly req: RequestId;
  readonly result: Results[T];
}

/** The answer to a request that was refused; without `req`, to a message that could not be read. */
export interface ErrorMessage {
  readonly type: "error";
  readonly req?: RequestId;
  readonly error: WireError;
}

/** A newer open of the same session took over (R27); the connection closes. */
export interface SupersededMessage {
  readonly type: "superseded";
}

/** The ACL no longer lets the session read the space: its watches ended. */
export interface RevokedMessage {
  readonly type: "revoked";
  readonly space: SpaceId;
  readonly reason: string;
}

/** Everything a server may say. */
export type ServerMessage =
  | ChallengeMessage
  | OkMessage
  | ErrorMessage
  | FrameMessage
  | SupersededMessage
  | RevokedMessage
  | { readonly type: "ping" }
  | { readonly type: "pong" };

const CountSchema = z.int().min(0);
/**
 * See {@link Row}. One object with a count and not a union of three: a frame can hold thousands of rows,
 * and zod builds an error for each branch that does not fit.
 */
export const RowSchema = z
  .strictObject({
    id: DocIdSchema,
    scopeKey: ScopeKeySchema,
    seq: SeqSchema,
    cover: z.enum(["authored", "derived", "system"]),
    value: JsonValueSchema.exactOptional(),
    patch: z.strictObject({ from: SeqSchema, ops: z.array(PatchOpSchema) }).exactOptional(),
    absent: z.literal(true).exactOptional(),
  })
  .refine(hasOneContent, {
    error: "a row has a value, a patch, or is absent",
  }) as unknown as z.ZodType<Row>;

function hasOneContent(row: {
  readonly value?: unknown;
  readonly patch?: unknown;
  readonly absent?: unknown;
}): boolean {
  const given = [row.value, row.patch, row.absent].filter((part) => part !== undefined);
  return given.length === 1;
}

/** See {@link EntryState}. */
export const EntryStateSchema = z
  .strictObject({
    stream: DocIdSchema,
    eventId: EventIdSchema,
    seq: SeqSchema.exactOptional(),
    index: CountSchema.exactOptional(),
    consequenced: z.literal(true).exactOptional(),
    status: z.enum(ENTRY_STATUSES).exactOptional(),
    error: TextSchema.exactOptional(),
    reason: TextSchema.exactOptional(),
    unknown: z.literal(true).exactOptional(),
  })
  .refine((entry) => Object.keys(entry).length === 3 || entry.unknown === undefined, {
    error: "an unknown entry has no further fields",
  })
  .refine((entry) => entry.unknown || (entry.seq !== undefined && entry.index !== undefined), {
    error: "an entry has a seq and an index, or is unknown",
  }) as unknown as z.ZodType<EntryState>;

const NothingSchema = z.strictObject({});

/** The result of each kind of request. */
export const ResultSchemas = {
  auth: z.strictObject({ resumed: z.boolean() }),
  "space.create": z.strictObject({ seq: SeqSchema }),
  "space.open": z.strictObject({
    seq: SeqSchema,
    watermark: SeqSchema,
    historyId: TextSchema,
    level: z.enum(ACL_LEVELS),
    resumed: z.boolean(),
  }),
  "space.close": NothingSchema,
  logout: NothingSchema,
  "watch.set": NothingSchema,
  commit: z.strictObject({ seq: SeqSchema }),
  append: z.strictObject({ seq: SeqSchema, index: CountSchema }),
} as const satisfies { readonly [T in RequestType]: z.ZodType<Results[T]> };

const AnyResultSchema: z.ZodType<Results[RequestType]> = z.union([
  ResultSchemas.append,
  ResultSchemas.commit,
  ResultSchemas["space.open"],
  ResultSchemas.auth,
  NothingSchema,
]);

/** See {@link FrameMessage}. */
export const FrameSchema = z.strictObject({
  type: z.literal("frame"),
  space: SpaceIdSchema,
  seq: SeqSchema,
  watermark: SeqSchema,
  reset: z.literal(true).exactOptional(),
  rows: z.array(RowSchema),
  gone: z.array(z.strictObject({ id: DocIdSchema, scopeKey: ScopeKeySchema })),
  entries: z.array(EntryStateSchema),
  frontiers: z.array(z.strictObject({ stream: DocIdSchema, seq: SeqSchema })),
});

/** See {@link ServerMessage}. */
export const ServerMessageSchema: z.ZodType<ServerMessage> = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("challenge"),
    version: CountSchema,
    serverId: TextSchema,
    challenge: TextSchema,
    expiresAt: z.number(),
  }),
  z.strictObject({ type: z.literal("ok"), req: CountSchema, result: AnyResultSchema }),
  z.strictObject({
    type: z.literal("error"),
    req: CountSchema.exactOptional(),
    error: WireErrorSchema,
  }),
  FrameSchema,
  z.strictObject({ type: z.literal("superseded") }),
  z.strictObject({ type: z.literal("revoked"), space: SpaceIdSchema, reason: TextSchema }),
  z.strictObject({ type: z.literal("ping") }),
  z.strictObject({ type: z.literal("pong") }),
]);
