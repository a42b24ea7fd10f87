import type { EventMarks } from "@tidemark/events";
import type { JsonValue } from "@tidemark/protocol";
import type { ZodSafeParseResult, ZodType } from "zod";

/**
 * Parses a payload by a schema that may be closed to keys it does not name. Keys that the firing runtime put
 * into the payload are no fault of its author: a closed schema is judged without those it does not know, in
 * the echo and in the served run alike (seed 000 §2).
 */
export function parsePayloadBy(
  schema: ZodType,
  payload: JsonValue | undefined,
  { runtimeInjectedEventKeys: injected = [] }: EventMarks,
): ZodSafeParseResult<unknown> {
  const parsed = schema.safeParse(payload);
  if (parsed.success || injected.length === 0) return parsed;
  const unknown = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : [],
  );
  const strange = new Set(unknown.filter((key) => injected.includes(key)));
  return strange.size === 0 ? parsed : schema.safeParse(without(payload, strange));
}

function without(payload: JsonValue | undefined, keys: ReadonlySet<string>): unknown {
  // Own keys of a checked JSON object; `__proto__` among them stays data.
  return Object.fromEntries(Object.entries(payload as object).filter(([key]) => !keys.has(key)));
}
