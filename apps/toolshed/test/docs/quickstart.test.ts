import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { startToolshed } from "../../src/testing/index.js";

const DOC = new URL("../../../../docs/quickstart.md", import.meta.url);
const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "quickstart-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fenced blocks of one language. */
function blocks(language: string): string[] {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...readFileSync(DOC, "utf8").matchAll(block)].map((match) => match[1] ?? "");
}

/** A printed text as a pattern: `…` stands for anything, an address for any address. */
function asPattern(text: string): RegExp {
  const literal = text.trim().replace(/[.*+?^${}()|[\]\\]/gu, "\\$&");
  return new RegExp(
    `^${literal.replaceAll("…", "\\S+").replace(/http:\/\/[\d\\.]+:\d+/gu, "http://\\S+?")}$`,
    "u",
  );
}

test("the files of the quickstart, saved and run as it says, print what it says", async () => {
  const files = blocks("js").map((code) => ({
    name: /^\/\/ (\S+)\n/u.exec(code)?.[1] ?? "",
    code,
  }));
  expect(files.map(({ name }) => name)).toEqual(["shopping.mjs", "buy.mjs"]);
  for (const { name, code } of files) writeFileSync(join(folder, name), code);
  symlinkSync(MODULES, join(folder, "node_modules"), "junction");

  const patterns = join(folder, "shopping.mjs");
  const dataDir = join(folder, "data");
  const toolshed = await startToolshed({ dataDir, args: ["--patterns", patterns] });
  try {
    await toolshed.demo();
    const [started = "", printed = ""] = blocks("text");
    // The log goes its own way, on stderr: whether a line of it comes first is the machine's to say.
    const shown = toolshed.output.lines.filter((line) => !line.startsWith("{"));
    expect(shown.slice(0, 2).join("\n")).toMatch(asPattern(started));
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["buy.mjs", toolshed.url], { cwd: folder });
    expect(stdout.trim()).toMatch(asPattern(printed));
  } finally {
    await toolshed.crash();
  }
}, 60_000);
