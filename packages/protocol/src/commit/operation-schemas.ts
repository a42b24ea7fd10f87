import { z } from "zod";
import type { DocOperation, PatchOp } from "../patch/operations.js";
import {
  DocIdSchema,
  JsonNumberSchema,
  JsonValueSchema,
  PathSchema,
  ScopeKindSchema,
  TextSchema,
} from "./field-schemas.js";

const at = { path: PathSchema };
const ifAbsent = { ifAbsent: JsonValueSchema.exactOptional() };
const addressed = { id: DocIdSchema, scope: ScopeKindSchema.exactOptional() };

/** One patch operation (protocol.md §8). */
export const PatchOpSchema: z.ZodType<PatchOp> = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("replace"), ...at, value: JsonValueSchema }),
  z.strictObject({ op: z.literal("add"), ...at, value: JsonValueSchema }),
  z.strictObject({ op: z.literal("remove"), ...at, value: JsonValueSchema.exactOptional() }),
  z.strictObject({ op: z.literal("append"), ...at, value: JsonValueSchema, ...ifAbsent }),
  z.strictObject({ op: z.literal("addUnique"), ...at, value: JsonValueSchema, ...ifAbsent }),
  z.strictObject({ op: z.literal("increment"), ...at, value: JsonNumberSchema, ...ifAbsent }),
  z.strictObject({
    op: z.literal("splice"),
    ...at,
    index: z.int().min(0),
    remove: z.int().min(0),
    insert: z.union([z.array(JsonValueSchema), TextSchema]),
    ...ifAbsent,
  }),
]);

/** One operation on a document, as an author words it: the scope's kind and never its key. */
export const DocOperationSchema: z.ZodType<DocOperation> = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("set"), ...addressed, value: JsonValueSchema }),
  z.strictObject({ op: z.literal("delete"), ...addressed }),
  z.strictObject({ op: z.literal("patch"), ...addressed, value: z.array(PatchOpSchema) }),
]);
