import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Temporary folders of one run. */
export class Folders {
  readonly #made: string[] = [];

  make(): string {
    const dir = mkdtempSync(join(tmpdir(), "tidemark-bench-"));
    this.#made.push(dir);
    return dir;
  }

  removeAll(): void {
    for (const dir of this.#made.splice(0)) rmSync(dir, { recursive: true, force: true });
  }
}
