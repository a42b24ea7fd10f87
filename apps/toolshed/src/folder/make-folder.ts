import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder, and those above it that are missing. Node's own `recursive` never returns where a system says of a
 * folder whose parent stands that there is none to make it in, as `/proc` does; here each is tried twice at most.
 *
 * @throws the system's error where it cannot be made; `EEXIST` where something else has the name.
 */
export function makeFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  try {
    makeOne(folder, mode);
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === folder) throw error;
    makeFolder(parent, mode);
    makeOne(folder, mode);
  }
}

/** What stands already is not asked whether it could be made: a read-only disk says no to that. */
function makeOne(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // What made the folder impossible may keep it from being looked at; the first error tells more.
    return false;
  }
}
