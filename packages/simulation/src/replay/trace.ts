import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { Patch } from "./patch.js";

const TraceSchema = z.object({
  startContent: z.literal(""),
  endContent: z.string(),
  txns: z.array(z.object({ patches: z.array(Patch) })),
});

/** A text as it was written: from the empty one to `endContent`, one transaction after the other. */
export type Trace = z.infer<typeof TraceSchema>;

/** Where a recording is, whether or not it is there. */
export function traceFile(dir: string, name: string): string {
  return join(dir, `${name}.json.gz`);
}

/**
 * Reads a recording (`<name>.json.gz`). Undefined where the folder does not hold it.
 *
 * @throws Error where the file is no recording.
 */
export function readTrace(dir: string | undefined, name: string): Trace | undefined {
  if (dir === undefined) return undefined;
  const file = traceFile(dir, name);
  if (!existsSync(file)) return undefined;
  try {
    return TraceSchema.parse(JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} is no recording of a text: ${why}`, { cause: error });
  }
}

/** The first `count` transactions, with the text that they come to. */
export function prefixOf(trace: Trace, count: number): Trace {
  if (count >= trace.txns.length) return trace;
  const txns = trace.txns.slice(0, count);
  return { startContent: "", txns, endContent: textOf(txns) };
}

/** The text that transactions come to, by code points on a plain list: shares no code with the splice of the store. */
export function textOf(txns: Trace["txns"]): string {
  const text: string[] = [];
  for (const { patches } of txns) {
    for (const [at, remove, insert] of patches) text.splice(at, remove, ...insert);
  }
  return text.join("");
}
