import {
  AppendEntrySchema,
  ProtocolError,
  validateJson,
  type AppendEntry,
  type JsonValue,
} from "@tidemark/protocol";

/** An entry as a client may author it (seed 000 §1): the intent, and nothing of its processing. */
export type AuthoredEntry = AppendEntry;

/**
 * Reads one authored entry from foreign data. A missing payload is `null`: an event without content
 * is still one. A seq, a mark, a status or any other field of the processing state is refused, since
 * a client has no such fields (ADM-14).
 *
 * @throws ProtocolError naming the path of the first field that is wrong or may not be there.
 */
export function parseAuthoredEntry(raw: unknown): AuthoredEntry {
  // Values before envelopes (R38): zod's objects would drop what our validator has to refuse.
  const json = validateJson(raw);
  if (!json.ok) {
    const path = json.error.path ?? [];
    const message = `the entry is not JSON: ${json.error.message}`;
    throw new ProtocolError(message, { path }, { cause: json.error });
  }
  const parsed = AppendEntrySchema.safeParse(withPayload(json.value));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
  const where = path.length === 0 ? "the entry" : `the entry's ${path.join(".")}`;
  const message = `${where} is refused: ${issue?.message ?? "malformed"}`;
  throw new ProtocolError(message, { path }, { cause: parsed.error });
}

function withPayload(raw: JsonValue): JsonValue {
  const isObject = typeof raw === "object" && raw !== null && !Array.isArray(raw);
  return isObject && !Object.hasOwn(raw, "payload") ? { ...raw, payload: null } : raw;
}
