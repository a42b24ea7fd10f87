import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ALLOWED_IMPORTS } from "../src/layers.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SKIPPED = new Set(["node_modules", "dist", ".turbo", ".git", ".tidemark", "scenarios"]);

/** @param {string} dir @returns {string[]} */
function markdownUnder(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return markdownUnder(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

/** Links of a text, code left out. @param {string} text */
function linksOf(text) {
  const prose = text.replace(/^```[\s\S]*?^```$/gmu, "").replace(/`[^`\n]*`/gu, "code");
  return [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/gu)].map((match) => match[1] ?? "");
}

/** The anchors that headings of a text make. @param {string} text */
function anchorsOf(text) {
  return [...text.matchAll(/^#{1,6} (.+)$/gmu)].map((match) =>
    (match[1] ?? "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("[WS-D1] the table of allowed imports in the architecture is the one that is checked", () => {
  const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const section = text.split("\n## Allowed imports\n")[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(/^\| ([\w-]+) \| ([^|]+) \|$/gmu)].slice(1);
  const table = rows.map(([, name, imports]) => [
    name,
    imports?.trim() === "–" ? [] : imports?.trim().split(", "),
  ]);
  expect(Object.fromEntries(table)).toEqual(ALLOWED_IMPORTS);
});

test("[WS-D2] every link between the project's documents and files leads somewhere", () => {
  const broken = [];
  for (const file of markdownUnder(ROOT)) {
    const text = readFileSync(file, "utf8");
    for (const link of linksOf(text)) {
      if (/^[a-z]+:/u.test(link)) continue;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? file : join(dirname(file), path);
      const there = existsSync(target);
      const anchored =
        anchor === undefined || (there && anchorsOf(readFileSync(target, "utf8")).includes(anchor));
      if (!there || !anchored) broken.push(`${relative(ROOT, file)}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

test("[WS-D3] every file that an ARCHITECTURE.md names for a concept stands", () => {
  const missing = [];
  for (const file of markdownUnder(join(ROOT, "packages"))) {
    if (!file.endsWith("ARCHITECTURE.md")) continue;
    const table = readFileSync(file, "utf8").split("\n| concept | file |\n")[1] ?? "";
    for (const line of table.split("\n").filter((each) => each.startsWith("| "))) {
      missing.push(
        ...missingOf(dirname(file), line).map((name) => `${relative(ROOT, file)}: ${name}`),
      );
    }
  }
  expect(missing).toEqual([]);
});

/** A name without a folder stands beside the one before it. @param {string} dir @param {string} line */
function missingOf(dir, line) {
  const named = [...line.matchAll(/`([^`]+)`/gu)].map((match) => match[1] ?? "");
  let beside = "";
  return named.filter((name) => {
    if (!name.endsWith("/") && !name.endsWith(".ts")) return false;
    const path = name.replace(/^src\//u, "");
    const found = [path, join(beside, path)].some((each) => existsSync(join(dir, "src", each)));
    if (path.includes("/")) beside = dirname(path);
    return !found;
  });
}
