import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The recordings that are replayed, and by how many. */
export const RECORDINGS = [
  { name: "sveltecomponent", writers: 1 },
  { name: "friendsforever_flat", writers: 2 },
] as const;

/** The folder of the recorded data: what is given, else `TIDEMARK_DATA`, else `../shared/data` beside the project. */
export function dataFolder(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const named = given ?? env["TIDEMARK_DATA"];
  if (named !== undefined && named !== "") return resolve(named);
  return fileURLToPath(new URL("../../../../../shared/data", import.meta.url));
}

/** Whether the folder holds a recording. */
export function isThere(file: string): boolean {
  return existsSync(file);
}
