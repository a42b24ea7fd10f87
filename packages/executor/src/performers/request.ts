import { getOwn, isJsonObject, type JsonValue } from "@tidemark/protocol";
import type { z } from "zod";
import { failure } from "./failure.js";

/**
 * Reads a built-in's request. A field that is `null` counts as absent: a cell that nobody has written reads so.
 *
 * @throws EffectError "invalid" (reason `request`) that names the fields which do not fit, never their values.
 */
export function parseRequest<S extends z.ZodType>(
  builtIn: string,
  schema: S,
  request: JsonValue,
): z.infer<S> {
  if (!isJsonObject(request)) {
    throw failure("invalid", "request", `${builtIn}: the request is an object`);
  }
  const present: [string, JsonValue][] = [];
  for (const key of Object.keys(request)) {
    const value = getOwn(request, key);
    if (value !== undefined && value !== null) present.push([key, value]);
  }
  const parsed = schema.safeParse(Object.fromEntries(present));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`));
  throw failure("invalid", "request", `${builtIn}: ${problems.join("; ").slice(0, 400)}`);
}
