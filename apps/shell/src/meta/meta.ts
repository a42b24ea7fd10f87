import { isDocId, isSpaceId } from "@tidemark/protocol";
import type { DocId, SpaceId } from "@tidemark/protocol";
import { z } from "zod";

const NodeSchema = z.object({
  name: z.string(),
  kind: z.enum(["cell", "computed", "list", "effect", "sender", "handler"]).catch("cell"),
  title: z.string().optional(),
  description: z.string().optional(),
  schema: z.unknown().optional(),
  default: z.unknown().optional(),
});

const MetaSchema = z.object({
  demo: z
    .object({
      space: z.custom<SpaceId>((value) => typeof value === "string" && isSpaceId(value)),
      piece: z.custom<DocId>((value) => typeof value === "string" && isDocId(value)),
    })
    .nullable(),
  patterns: z.array(
    z.object({
      id: z.string(),
      version: z.string(),
      title: z.string(),
      description: z.string().nullable(),
      nodes: z.array(NodeSchema),
    }),
  ),
});

/** What a server says of itself: its demo, and the patterns it serves. */
export type Meta = z.output<typeof MetaSchema>;
/** One node of a served pattern. */
export type MetaNode = z.output<typeof NodeSchema>;

/** Asks the server. `undefined` where it does not answer, or answers something else. */
export async function fetchMeta(fetcher: typeof fetch = fetch): Promise<Meta | undefined> {
  try {
    const response = await fetcher("/api/meta");
    const parsed = MetaSchema.safeParse(await response.json());
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
