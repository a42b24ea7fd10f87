import { z } from "zod";
import { contentHash } from "../json/hash.js";
import type { JsonValue } from "../json/json-value.js";
import { ClientMessageSchema } from "./client-messages.js";
import { ServerMessageSchema } from "./server-messages.js";

/**
 * A hash of the schemas of every message, compared by a test with the last line of `WIRE_HISTORY`, so
 * that the format cannot change without a new version. What a refinement decides shows in it by the
 * refinement's title alone.
 */
export function wireSchemaHash(): string {
  const describe = (schema: z.ZodType): unknown =>
    z.toJSONSchema(schema, { io: "input", unrepresentable: "any", cycles: "ref" });
  const shape = { client: describe(ClientMessageSchema), server: describe(ServerMessageSchema) };
  return contentHash(JSON.parse(JSON.stringify(shape)) as JsonValue);
}
