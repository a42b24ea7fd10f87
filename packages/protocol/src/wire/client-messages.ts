import { z } from "zod";
import { type Acl, AclSchema } from "../acl/acl.js";
import {
  type AppendRequest,
  AppendRequestSchema,
  type AuthoredCommit,
  AuthoredCommitSchema,
} from "../commit/authored.js";
import {
  DocIdSchema,
  EventIdSchema,
  PrincipalSchema,
  SeqSchema,
  SessionIdSchema,
  SpaceIdSchema,
  TextSchema,
} from "../commit/field-schemas.js";
import type { DocId, EventId, Principal, Seq, SessionId, SpaceId } from "../ids/ids.js";
import { type Watch, WatchSchema } from "../selector/selector.js";

/** A number that a client gives to a request and the server repeats in the answer. */
export type RequestId = number;

/** Where a client stands in a space: the history it followed, and the seq it integrated. */
export interface Cursor {
  readonly historyId: string;
  readonly seq: Seq;
}

/** The name of an entry that a session waits for. */
export interface EventRef {
  readonly stream: DocId;
  readonly eventId: EventId;
}

/** Opens the conversation; answered with `challenge`, or an error when the version is not spoken. */
export interface HelloMessage {
  readonly type: "hello";
  readonly version: number;
}

/** Signs the challenge. See {@link authMessageToSign} for what is signed. */
export interface AuthMessage {
  readonly type: "auth";
  readonly req: RequestId;
  readonly principal: Principal;
  readonly sessionId: SessionId;
  /** Minted by the client for each open of the session; the same one means a reconnect (R27). */
  readonly openNonce: string;
  readonly challenge: string;
  /** base64url. */
  readonly signature: string;
}

/** Founds a space (R31). Signed by the new space's own key. */
export interface SpaceCreateMessage {
  readonly type: "space.create";
  readonly req: RequestId;
  readonly space: SpaceId;
  readonly acl: Acl;
  /** base64url. */
  readonly signature: string;
}

/** Opens a space for this session, with what it watches. */
export interface SpaceOpenMessage {
  readonly type: "space.open";
  readonly req: RequestId;
  readonly space: SpaceId;
  readonly cursor?: Cursor;
  readonly watches: readonly Watch[];
  /** Outstanding intents that were already appended. */
  readonly events?: readonly EventRef[];
}

/** Ends the watches of a space. */
export interface SpaceCloseMessage {
  readonly type: "space.close";
  readonly req: RequestId;
  readonly space: SpaceId;
}

/** Ends the session, in every space. */
export interface LogoutMessage {
  readonly type: "logout";
  readonly req: RequestId;
}

/** Replaces what the session watches in a space. */
export interface WatchSetMessage {
  readonly type: "watch.set";
  readonly req: RequestId;
  readonly space: SpaceId;
  readonly watches: readonly Watch[];
}

/** Commits document writes. */
export interface CommitMessage {
  readonly type: "commit";
  readonly req: RequestId;
  readonly space: SpaceId;
  readonly commit: AuthoredCommit;
}

/** Appends one event. */
export interface AppendMessage {
  readonly type: "append";
  readonly req: RequestId;
  readonly space: SpaceId;
  readonly append: AppendRequest;
}

/** Asks for a `pong`. */
export interface PingMessage {
  readonly type: "ping";
}

/** Answers the server's `ping`. */
export interface PongMessage {
  readonly type: "pong";
}

/** Everything a client may say. */
export type ClientMessage =
  | HelloMessage
  | AuthMessage
  | SpaceCreateMessage
  | SpaceOpenMessage
  | SpaceCloseMessage
  | LogoutMessage
  | WatchSetMessage
  | CommitMessage
  | AppendMessage
  | PingMessage
  | PongMessage;

/** The messages that are answered with `ok` or `error`. */
export type ClientRequest = Extract<ClientMessage, { readonly req: RequestId }>;

/** The greatest number of watches of one session in one space. */
export const MAX_WATCHES = 1024;
/** The greatest number of outstanding events named when a space is opened. */
export const MAX_OUTSTANDING_EVENTS = 65_536;

const RequestIdSchema = z.int().min(0);
const TokenSchema = TextSchema.min(1).max(1024);
const WatchesSchema = z.array(WatchSchema).max(MAX_WATCHES);
const request = { req: RequestIdSchema };
const inSpace = { req: RequestIdSchema, space: SpaceIdSchema };

/** See {@link EventRef}. */
export const EventRefSchema = z.strictObject({ stream: DocIdSchema, eventId: EventIdSchema });

/** See {@link ClientMessage}. */
export const ClientMessageSchema: z.ZodType<ClientMessage> = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("hello"), version: z.int().min(0) }),
  z.strictObject({
    type: z.literal("auth"),
    ...request,
    principal: PrincipalSchema,
    sessionId: SessionIdSchema,
    openNonce: TokenSchema,
    challenge: TokenSchema,
    signature: TokenSchema,
  }),
  z.strictObject({
    type: z.literal("space.create"),
    ...inSpace,
    acl: AclSchema,
    signature: TokenSchema,
  }),
  z.strictObject({
    type: z.literal("space.open"),
    ...inSpace,
    cursor: z.strictObject({ historyId: TokenSchema, seq: SeqSchema }).exactOptional(),
    watches: WatchesSchema,
    events: z.array(EventRefSchema).max(MAX_OUTSTANDING_EVENTS).exactOptional(),
  }),
  z.strictObject({ type: z.literal("space.close"), ...inSpace }),
  z.strictObject({ type: z.literal("logout"), ...request }),
  z.strictObject({ type: z.literal("watch.set"), ...inSpace, watches: WatchesSchema }),
  z.strictObject({ type: z.literal("commit"), ...inSpace, commit: AuthoredCommitSchema }),
  z.strictObject({ type: z.literal("append"), ...inSpace, append: AppendRequestSchema }),
  z.strictObject({ type: z.literal("ping") }),
  z.strictObject({ type: z.literal("pong") }),
]);
