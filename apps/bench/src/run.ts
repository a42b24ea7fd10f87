import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchOptions } from "./cli/options.js";
import type { Progress } from "./report/progress.js";
import type { Row } from "./report/row.js";
import type { BenchContext, Figure } from "./support/figure.js";
import { Folders } from "./support/folders.js";

/** Measures the figures that were asked for, one after the other. */
export async function run(
  figures: readonly Figure[],
  options: BenchOptions,
  progress: Progress,
): Promise<readonly Row[]> {
  const folders = new Folders();
  const context: BenchContext = {
    quick: options.quick,
    dataDir: dataDirOf(options.data),
    progress,
    folder: () => folders.make(),
  };
  const wanted = figures.filter(
    ({ name }) => options.only.length === 0 || options.only.includes(name),
  );
  const rows: Row[] = [];
  try {
    for (const figure of wanted) {
      progress.figure(figure.name);
      rows.push(...(await figure.measure(context)));
    }
  } finally {
    progress.clear();
    folders.removeAll();
  }
  return rows;
}

/** The folder that was given, else the one beside the project where it is there. */
function dataDirOf(given: string | undefined): string | undefined {
  if (given !== undefined) return resolve(given);
  const beside = fileURLToPath(new URL("../../../../shared/data", import.meta.url));
  return existsSync(beside) ? beside : undefined;
}
