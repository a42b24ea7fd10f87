import type { z } from "zod";
import { ProtocolError } from "../errors/refusals.js";
import { LimitError } from "../errors/values.js";
import { type ClientMessage, ClientMessageSchema, type RequestId } from "./client-messages.js";
import { type ServerMessage, ServerMessageSchema } from "./server-messages.js";
import { exceedsBytes } from "./text-bytes.js";

/** Bounds of one message. */
export interface MessageLimits {
  /** Size of the text in UTF-8. */
  readonly maxBytes: number;
}

/** The default bounds: 4 MiB. */
export const MESSAGE_LIMITS: MessageLimits = { maxBytes: 4 * 1024 * 1024 };

/**
 * A message, or why it is none. `req` is the request's number where it could be read, so that even a
 * malformed request gets its answer.
 */
export type Parsed<M> =
  | { readonly ok: true; readonly message: M }
  | {
      readonly ok: false;
      readonly error: ProtocolError | LimitError;
      readonly req?: RequestId;
    };

/**
 * Reads a message of a client. Checks in this order: size, JSON, shape; unknown keys are refused, at
 * every level (protocol.md §7). Values go through the value validator (R38). Never throws.
 */
export function parseClientMessage(
  text: string,
  limits: MessageLimits = MESSAGE_LIMITS,
): Parsed<ClientMessage> {
  return parse(text, limits, ClientMessageSchema);
}

/** Reads a message of a server, as {@link parseClientMessage} does. */
export function parseServerMessage(
  text: string,
  limits: MessageLimits = MESSAGE_LIMITS,
): Parsed<ServerMessage> {
  return parse(text, limits, ServerMessageSchema);
}

/** The text of a client's message. The other side checks it; this side is typed. */
export function encodeClientMessage(message: ClientMessage): string {
  return JSON.stringify(message);
}

/** The text of a server's message. */
export function encodeServerMessage(message: ServerMessage): string {
  return JSON.stringify(message);
}

/**
 * The first thing that is wrong is all that is told, and all that is looked for: of a message with a million malformed
 * elements zod would otherwise collect a million issues, for seconds, and put them into one call's arguments.
 */
const FIRST_ISSUE: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

function parse<M>(text: string, limits: MessageLimits, schema: z.ZodType<M>): Parsed<M> {
  if (exceedsBytes(text, limits.maxBytes)) return { ok: false, error: tooLarge(text, limits) };
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (cause) {
    return { ok: false, error: new ProtocolError("The message is not JSON.", {}, { cause }) };
  }
  const result = schema.safeParse(input, FIRST_ISSUE);
  if (result.success) return { ok: true, message: result.data };
  const error = fromIssue(result.error.issues[0]);
  const req = requestOf(input);
  return req === undefined ? { ok: false, error } : { ok: false, error, req };
}

function tooLarge(text: string, { maxBytes }: MessageLimits): LimitError {
  return new LimitError(
    `The message of ${text.length} characters is larger than ${maxBytes} bytes. Send less at once.`,
    { limit: "message bytes", max: maxBytes },
  );
}

function requestOf(input: unknown): RequestId | undefined {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, "req")) return undefined;
  const { req } = input as { readonly req: unknown };
  return Number.isSafeInteger(req) && (req as number) >= 0 ? (req as number) : undefined;
}

/** How much of a path an error repeats: the rest of a hostile one is of no use to anybody. */
const MAX_ERROR_PATH = 16;

function fromIssue(issue: z.core.$ZodIssue | undefined): ProtocolError | LimitError {
  const path = (issue?.path ?? []).slice(0, MAX_ERROR_PATH).map(pathStep);
  const where = path.length === 0 ? "" : ` at ${JSON.stringify(path).slice(0, 200)}`;
  const message = `The message is malformed${where}: ${(issue?.message ?? "").slice(0, 200)}.`;
  const limit: unknown = issue?.code === "custom" ? issue.params?.["limit"] : undefined;
  if (typeof limit === "object" && limit !== null) {
    return new LimitError(message, limit as { readonly limit: string; readonly max: number });
  }
  return new ProtocolError(message, { path });
}

function pathStep(step: PropertyKey): string | number {
  return typeof step === "number" ? step : String(step).slice(0, 64);
}
