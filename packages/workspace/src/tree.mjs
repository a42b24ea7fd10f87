import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { checkFile } from "./check.mjs";

const SOURCE = /\.[cm]?tsx?$/u;
const SKIPPED = new Set(["node_modules", "dist", ".turbo"]);

/**
 * Checks every package and app under `root`.
 *
 * @param {string} root
 * @returns {{ files: number, violations: import("./check.mjs").Violation[] }}
 */
export function checkTree(root) {
  let files = 0;
  const violations = [];
  for (const pkg of packagesOf(root)) {
    const base = join(root, pkg.dir);
    for (const path of sourcesUnder(base)) {
      files++;
      const file = relative(base, path).split(sep).join("/");
      violations.push(...checkFile(pkg, file, readFileSync(path, "utf8")));
    }
  }
  return { files, violations };
}

/** @param {string} root @returns {import("./check.mjs").Package[]} */
export function packagesOf(root) {
  return ["packages", "apps"].flatMap((group) =>
    existsSync(join(root, group))
      ? readdirSync(join(root, group))
          .filter((name) => existsSync(join(root, group, name, "package.json")))
          .map((name) => ({
            name,
            dir: `${group}/${name}`,
            app: group === "apps",
            manifest: JSON.parse(readFileSync(join(root, group, name, "package.json"), "utf8")),
          }))
      : [],
  );
}

/** @param {string} dir @returns {Generator<string>} */
function* sourcesUnder(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* sourcesUnder(path);
    else if (SOURCE.test(entry.name)) yield path;
  }
}
