import { z } from "zod";
import { isWellFormedText } from "../base/text.js";
import type { ValueReason } from "../errors/values.js";
import {
  type BranchName,
  type DocId,
  type EventId,
  type LocalSeq,
  type Principal,
  type Seq,
  type SessionId,
  type SpaceId,
  isBranchName,
  isDocId,
  isEventId,
  isPrincipal,
  isSessionId,
  isSpaceId,
} from "../ids/ids.js";
import type { JsonValue, Path } from "../json/json-value.js";
import { DEFAULT_JSON_LIMITS, validateJson } from "../json/validate.js";
import { type ScopeKey, isScopeKey } from "../scope/scope.js";

/*
 * Schemas of single fields. The guards of `ids` decide what is well formed; the titles below show up
 * in the JSON Schema that the wire version's hash is taken of.
 */

function guarded<T extends string>(is: (text: string) => boolean, title: string): z.ZodType<T> {
  return z
    .string()
    .refine(is, { error: `not a valid ${title}` })
    .meta({ title }) as unknown as z.ZodType<T>;
}

/** A space's DID. */
export const SpaceIdSchema = guarded<SpaceId>(isSpaceId, "space id");
/** A principal's DID. */
export const PrincipalSchema = guarded<Principal>(isPrincipal, "principal");
/** A session id. */
export const SessionIdSchema = guarded<SessionId>(isSessionId, "session id");
/** An event id. */
export const EventIdSchema = guarded<EventId>(isEventId, "event id");
/** A document id. */
export const DocIdSchema = guarded<DocId>(isDocId, "document id");
/** A branch name. */
export const BranchNameSchema = guarded<BranchName>(isBranchName, "branch name");
/** A resolved scope key. */
export const ScopeKeySchema = guarded<ScopeKey>(isScopeKey, "scope key");

/** A seq of a space. */
export const SeqSchema = z.int().min(0).meta({ title: "seq" }) as unknown as z.ZodType<Seq>;
/** A session's own count (R27). */
export const LocalSeqSchema = z
  .int()
  .min(0)
  .meta({ title: "local seq" }) as unknown as z.ZodType<LocalSeq>;

/** The scope kinds that an author may name; the server resolves the key. */
export const ScopeKindSchema = z.enum(["space", "user", "session"]);

/** Text without lone surrogates (R12). */
export const TextSchema = z
  .string()
  .refine(isWellFormedText, { error: "a lone surrogate is not text" })
  .meta({ title: "text" });

/** The greatest number of steps of a path; a value is no deeper (see `validateJson`). */
export const MAX_PATH_LENGTH = 64;

function isPath(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_PATH_LENGTH && value.every(isPathStep);
}

function isPathStep(step: unknown): boolean {
  return typeof step === "string"
    ? isWellFormedText(step)
    : Number.isSafeInteger(step) && Number(step) >= 0;
}

/**
 * A path: keys and array indices. One check and not an array of unions: zod builds an error for each
 * branch that does not fit, which made paths half the cost of a commit.
 */
export const PathSchema = z
  .custom<Path>(isPath, { error: "not a path of keys and array indices" })
  .meta({ title: "path" });

/** A finite number; −0 is 0 (R11). */
export const JsonNumberSchema = z.number().transform((value) => value + 0);

/** What a value has too much of, for the reasons that are about size. */
const LIMITS: Partial<Record<ValueReason, { readonly limit: string; readonly max: number }>> = {
  "too-deep": { limit: "value depth", max: DEFAULT_JSON_LIMITS.depth },
  "too-large": { limit: "value size", max: DEFAULT_JSON_LIMITS.size },
  "too-many-keys": { limit: "keys of an object", max: DEFAULT_JSON_LIMITS.keys },
  "key-too-long": { limit: "key length", max: DEFAULT_JSON_LIMITS.keyLength },
};

/**
 * Any JSON value, through the project's own validator (R38) and never through zod's records, which
 * drop `__proto__`. For values fresh from `JSON.parse`: where nothing had to change, the result is the
 * input itself.
 */
export const JsonValueSchema: z.ZodType<JsonValue> = z
  .unknown()
  .transform((value, context): JsonValue => {
    if (value === undefined) {
      // Also every optional field that is not there: zod asks, and drops the answer. An Error with its
      // stack here was half the cost of a frame.
      context.issues.push({ code: "custom", message: "a value is missing", input: value });
      return z.NEVER;
    }
    const checked = validateJson(value, { reuse: true });
    if (checked.ok) return checked.value;
    const { path, reason } = checked.error;
    const limit = LIMITS[reason];
    const params = limit === undefined ? {} : { params: { limit } };
    const message = `not a value that can be stored (${reason})`;
    context.issues.push({ code: "custom", message, input: value, path: [...path], ...params });
    return z.NEVER;
  })
  .meta({ title: "json" });
