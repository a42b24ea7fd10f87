import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readExamples, type ReadmeExampleRun, runReadmeExample } from "@tidemark/protocol/testing";

/** The project's root folder. */
export const ROOT: string = fileURLToPath(new URL("../../../../", import.meta.url));
const PACKAGE: string = fileURLToPath(new URL("../../", import.meta.url));

/** The text of a file, by its path from the root. */
export function readText(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** The code of a document's fenced blocks of one language, in order. */
export function blocksOf(file: string, language: string): string[] {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...readText(file).matchAll(block)].map((match) => match[1] ?? "");
}

/** One row of a Markdown table, its cells trimmed. */
export type TableRow = readonly string[];

/** The body rows of the first table under a heading; cells keep their Markdown. */
export function tableUnder(file: string, heading: string): TableRow[] {
  const [, section] = readText(file).split(`\n${heading}\n`);
  if (section === undefined) throw new Error(`${file} has no heading ${JSON.stringify(heading)}`);
  const lines = section.split(/\n#{1,6} /u)[0]?.split("\n") ?? [];
  const rows = lines.filter((line) => line.startsWith("|"));
  return rows.slice(2).map((line) =>
    line
      .replaceAll("\\|", "\u0000")
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replaceAll("\u0000", "|")),
  );
}

/** What stands in backticks in a cell, piece by piece. */
export function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/gu)].map((match) => match[1] ?? "");
}

/**
 * Runs the `ts` blocks of a document as one program: a guide's later blocks go on from its earlier ones.
 * What they promise to print is compared. Rejects with what the program threw.
 *
 * @param afterFirst code that the test adds after the first block.
 */
export async function runGuide(file: string, afterFirst = ""): Promise<ReadmeExampleRun> {
  const [first, ...later] = readExamples(readText(file));
  if (first === undefined) throw new Error(`${file} has no block to run`);
  const blocks = [first, `${afterFirst}\n`, ...later];
  const name = `guide-${basename(file)}`;
  const scratch = join(PACKAGE, ".tidemark");
  mkdirSync(scratch, { recursive: true });
  writeFileSync(join(scratch, name), `\`\`\`ts\n${blocks.join("\n")}\`\`\`\n`);
  try {
    return await runReadmeExample({
      packageDir: PACKAGE,
      file: join(".tidemark", name),
      load: (path) => import(path),
    });
  } finally {
    rmSync(join(scratch, name), { force: true });
  }
}
