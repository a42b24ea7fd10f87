import { isLink, type JsonValue } from "@tidemark/protocol";
import { z } from "zod";
import type { BuiltInName } from "./built-in.js";

const MAX_URL_LENGTH = 8_192;
const MAX_TEXT_LENGTH = 1_000_000;
const MAX_STATEMENT_LENGTH = 100_000;
const MAX_MESSAGES = 1_000;
const MAX_PARAMS = 1_000;

/** A JSON Schema that the answer is held to. */
const jsonSchema = z.record(z.string(), z.json());

/**
 * Anything. It is part of the memo key and is not sent, so that another value asks again: the one way
 * to ask twice for the same thing (seed 001 §4: retries are input-driven).
 */
const again = z.json().optional();

/** A header's name is a token (RFC 9110 §5.1); which of them are open to requests a deployment says. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,256}$/u;

const headers = z
  .record(z.string(), z.string().max(8_192))
  .superRefine((given, context) => {
    const seen = new Set<string>();
    for (const name of Object.keys(given)) {
      const known = name.toLowerCase();
      if (HEADER_NAME.test(name) && !seen.has(known)) seen.add(known);
      else
        context.addIssue({ code: "custom", message: "no header's name, or twice", path: [name] });
    }
  })
  .transform((given) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])),
  );

const httpUrl = z
  .string()
  .max(MAX_URL_LENGTH)
  .regex(/^https?:\/\//iu, "a url begins with http:// or https://");

/** What `fetchData` asks for. The answer is the response's body: JSON where it is JSON, else text. */
export const FetchRequestSchema = z.strictObject({
  url: httpUrl,
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  headers: headers.optional(),
  /** A text is sent as it is, anything else as JSON. `null`, as of a cell that nobody has written, is no body. */
  body: z.json().optional(),
  schema: jsonSchema.optional(),
  again,
});

const message = z.strictObject({
  role: z.enum(["system", "user", "assistant"]),
  content: z.string().max(MAX_TEXT_LENGTH),
});

const generationParams = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxTokens: z.number().int().positive().optional(),
  stop: z.array(z.string().max(256)).max(16).optional(),
  seed: z.number().int().optional(),
});

const generation = {
  /** Without one, the provider's own choice. */
  model: z.string().min(1).max(256).optional(),
  messages: z.array(message).min(1).max(MAX_MESSAGES),
  params: generationParams.optional(),
  again,
};

/** What `generateText` asks for. The answer is the whole text. */
export const TextRequestSchema = z.strictObject(generation);

/** What `generateObject` asks for. The answer fits `schema`. */
export const ObjectRequestSchema = z.strictObject({ ...generation, schema: jsonSchema });

const sqlValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

function isDatabase(value: unknown): boolean {
  return typeof value === "string" ? value.length <= 64 : isLink(value as JsonValue);
}

/** What `sqliteQuery` asks for. The answer is the list of rows, each an object by column. */
export const QueryRequestSchema = z.strictObject({
  /** The database's name, or a link to the document it goes with; without one, the space's main one. */
  database: z.custom<JsonValue>(isDatabase, "a name or a link, see linkValueOf()").optional(),
  statement: z.string().min(1).max(MAX_STATEMENT_LENGTH),
  /** By place, or by name without the leading sign. */
  params: z.union([z.array(sqlValue).max(MAX_PARAMS), z.record(z.string(), sqlValue)]).optional(),
  /** Whose the result is: part of the key, and no part of the query. */
  reader: z.json().optional(),
  again,
});

/** What a pattern asks for, and what a performer is given once defaults are filled in. */
export type FetchRequest = z.input<typeof FetchRequestSchema>;
export type ResolvedFetchRequest = z.output<typeof FetchRequestSchema>;
export type TextRequest = z.input<typeof TextRequestSchema>;
export type ObjectRequest = z.input<typeof ObjectRequestSchema>;
export type QueryRequest = z.input<typeof QueryRequestSchema>;

/** The schema of each built-in's request. */
export const EFFECT_REQUESTS = {
  fetchData: FetchRequestSchema,
  generateText: TextRequestSchema,
  generateObject: ObjectRequestSchema,
  sqliteQuery: QueryRequestSchema,
} as const satisfies Record<BuiltInName, z.ZodType>;

/** A request with its defaults, or words about what does not fit. */
export type ParsedRequest =
  | { readonly ok: true; readonly request: JsonValue }
  | { readonly ok: false; readonly message: string };

/** Checks a request against its built-in's schema. */
export function parseRequest(builtIn: BuiltInName, given: JsonValue): ParsedRequest {
  const parsed = EFFECT_REQUESTS[builtIn].safeParse(given);
  // What the schemas accept is JSON, and what they fill in is too.
  if (parsed.success) return { ok: true, request: parsed.data as JsonValue };
  const [issue] = parsed.error.issues;
  const at = issue?.path.map(String).join(".") ?? "";
  const what = issue?.message ?? "malformed";
  const message = at === "" ? `the request: ${what}` : `the request's ${at}: ${what}`;
  return { ok: false, message: message.slice(0, 500) };
}
