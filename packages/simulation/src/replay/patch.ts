import { z } from "zod";

/** One change of a text: at this code point, so many taken out, this put in. */
export const Patch = z.tuple([z.number().int().min(0), z.number().int().min(0), z.string()]);

/** One change of a text. */
export type TextPatch = z.infer<typeof Patch>;
