import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { packagesOf } from "../tree.mjs";

/** The page, and what it is written from, relative to the project's root. */
export const PAGE = "docs/conformance.md";
const MAPS = "docs/conformance";
/** The seeds are no part of the project: a fresh clone may not have them beside it. */
const SEEDS = "../shared/spec/seeds";

/**
 * Reads everything that the page is written from.
 *
 * @param {string} root
 * @returns {import("./model.mjs").Sources}
 */
export function readSources(root) {
  const seeds = json(root, `${MAPS}/seeds.json`);
  const packages = packagesOf(root).map(({ dir }) => dir);
  return {
    seeds,
    sentences: byNumber(seeds, (seed) => json(root, `${MAPS}/sentences/${seed.seed}.json`)),
    code: json(root, `${MAPS}/code.json`),
    specs: packages
      .filter((dir) => existsSync(join(root, dir, "SPEC.md")))
      .map((dir) => ({ package: dir, text: readFileSync(join(root, dir, "SPEC.md"), "utf8") })),
    tests: packages.flatMap((dir) => testsOf(root, dir)),
    seedTexts: byNumber(
      seeds.filter((/** @type {{ file: string }} */ seed) =>
        existsSync(join(root, SEEDS, seed.file)),
      ),
      (seed) => readFileSync(join(root, SEEDS, seed.file), "utf8"),
    ),
    exists: (path) => existsSync(join(root, path)),
  };
}

/** @param {string} root @param {string} path */
const json = (root, path) => JSON.parse(readFileSync(join(root, path), "utf8"));

/**
 * @template T
 * @param {readonly import("./model.mjs").SeedIndex[]} seeds
 * @param {(seed: import("./model.mjs").SeedIndex) => T} read
 * @returns {Record<string, T>}
 */
function byNumber(seeds, read) {
  return Object.fromEntries(seeds.map((seed) => [seed.seed, read(seed)]));
}

/** Test files, and contract suites with their titles. @param {string} root @param {string} dir */
function testsOf(root, dir) {
  return [...filesUnder(join(root, dir, "test")), ...filesUnder(join(root, dir, "src"))]
    .map((path) => ({ path, file: relative(root, path).split(sep).join("/") }))
    .filter(
      ({ file }) => /\.test\.[cm]?[jt]s$/u.test(file) || /\/src\/(?:.+\/)?testing\//u.test(file),
    )
    .map(({ path, file }) => ({ file, text: readFileSync(path, "utf8") }));
}

/** @param {string} dir @returns {string[]} sorted, so that the page does not depend on the disk */
function filesUnder(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules")
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      return entry.isDirectory() ? filesUnder(path) : [path];
    })
    .sort();
}
