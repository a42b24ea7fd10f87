import { builtinModules } from "node:module";
import { posix } from "node:path";
import { readModule } from "./imports.mjs";
import {
  ALLOWED_IMPORTS,
  BROWSER_PACKAGES,
  FORBIDDEN_FOR_SHELL,
  RETIRED_NAMES,
} from "./layers.mjs";

const BUILTINS = new Set(builtinModules);

/**
 * @typedef {{ name: string, dir: string, manifest: any, app: boolean }} Package
 * @typedef {{ file: string, line: number, message: string }} Violation
 */

/**
 * The violations of one file. `file` is relative to the package's folder, with forward slashes.
 *
 * @param {Package} pkg
 * @param {string} file
 * @param {string} source
 * @returns {Violation[]}
 */
export function checkFile(pkg, file, source) {
  /** @type {Violation[]} */
  const violations = [];
  for (const finding of readModule(file, source)) {
    const message = judge(pkg, file, finding);
    if (message) violations.push({ file: posix.join(pkg.dir, file), line: finding.line, message });
  }
  return violations;
}

/** @param {Package} pkg @param {string} file @param {import("./imports.mjs").Finding} finding */
function judge(pkg, file, finding) {
  if (finding.kind === "identifier") {
    return RETIRED_NAMES.has(finding.text)
      ? `"${finding.text}" is a name of the retired design (seed 001 §8): use another word`
      : undefined;
  }
  if (finding.kind === "export-all") return "export by name: `export *` hides what is public";
  const specifier = finding.text;
  if (specifier.startsWith(".")) return judgeRelative(file, specifier);
  if (specifier.startsWith("@tidemark/")) return judgeSibling(pkg, file, specifier);
  if (specifier.startsWith("node:") || BUILTINS.has(specifier)) return judgeBuiltin(pkg, file);
  return judgeNpm(pkg, file, specifier);
}

/** @param {string} file @param {string} specifier */
function judgeRelative(file, specifier) {
  const target = posix.normalize(posix.join(posix.dirname(file), specifier));
  return target.startsWith("..") && !isConfig(file)
    ? `${specifier} leaves the package: import the other package by its name`
    : undefined;
}

/** @param {Package} pkg @param {string} file @param {string} specifier */
function judgeSibling(pkg, file, specifier) {
  const [, name = "", ...rest] = specifier.split("/");
  const entry = rest.join("/");
  if (entry !== "" && entry !== "testing") {
    return `${specifier} is a deep import: use the package's documented entry`;
  }
  if (name === pkg.name) {
    // A test may come in by the front door; a source that does runs in a circle.
    return inSources(file)
      ? `${specifier} is this package itself: use a relative import`
      : undefined;
  }
  if (!declared(pkg.manifest, `@tidemark/${name}`, inSources(file))) {
    return `@tidemark/${name} is not among the dependencies of ${pkg.name}`;
  }
  if (!inSources(file)) return undefined;
  if (entry === "testing" && !inTesting(file) && !pkg.app && pkg.name !== "simulation") {
    return `${specifier} is for tests and ./testing only`;
  }
  return judgeLayer(pkg, name);
}

/** @param {Package} pkg @param {string} name */
function judgeLayer(pkg, name) {
  if (pkg.name === "shell" && FORBIDDEN_FOR_SHELL.has(name)) return "the shell imports no engine";
  const allowed = ALLOWED_IMPORTS[pkg.name];
  if (pkg.app || pkg.name === "simulation") return undefined;
  return allowed?.includes(name)
    ? undefined
    : `${pkg.name} may not import ${name}: the table of allowed imports says ${allowed?.join(", ") || "none"}`;
}

/** @param {Package} pkg @param {string} file */
function judgeBuiltin(pkg, file) {
  return BROWSER_PACKAGES.has(pkg.name) && inSources(file) && !inTesting(file)
    ? `${pkg.name} runs in a browser: no Node built-ins`
    : undefined;
}

/** @param {Package} pkg @param {string} file @param {string} specifier */
function judgeNpm(pkg, file, specifier) {
  const parts = specifier.split("/");
  const name = specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
  return declared(pkg.manifest, name, inSources(file)) || isConfig(file)
    ? undefined
    : `${name} is not among the dependencies of ${pkg.name}`;
}

/** @param {any} manifest @param {string} name @param {boolean} runtimeOnly */
function declared(manifest, name, runtimeOnly) {
  if (Object.hasOwn(manifest.dependencies ?? {}, name)) return true;
  if (Object.hasOwn(manifest.peerDependencies ?? {}, name)) return true;
  return !runtimeOnly && Object.hasOwn(manifest.devDependencies ?? {}, name);
}

/** @param {string} file */
const inTesting = (file) => /^src\/(?:.+\/)?testing\//u.test(file);
/** @param {string} file */
const inSources = (file) => file.startsWith("src/");
/** @param {string} file */
const isConfig = (file) => /^[^/]+\.config\.[cm]?ts$/u.test(file);
