import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { Patch } from "./pattern.js";

const Trace = z.object({
  endContent: z.string(),
  txns: z.array(z.object({ patches: z.array(Patch) })),
});

/** A recorded text, transaction by transaction. */
export interface RecordedText {
  readonly endContent: string;
  readonly txns: readonly { readonly patches: readonly z.infer<typeof Patch>[] }[];
}

/** Reads a recording; absent where the folder does not hold it. */
export function readTrace(dir: string | undefined, name: string): RecordedText | undefined {
  if (dir === undefined) return undefined;
  const file = join(dir, `${name}.json.gz`);
  if (!existsSync(file)) return undefined;
  return Trace.parse(JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")));
}
