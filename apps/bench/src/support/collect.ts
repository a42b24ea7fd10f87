import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let gc: (() => void) | undefined;

/** Heap and what hangs on it after a collection, bytes; the flag need not be given on the command line. */
export function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  gc ??= globalThis.gc ?? (runInNewContext("gc") as () => void);
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
