import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PNPM = "pnpm@10.34.8";
const color = process.stdout.isTTY && !process.env.NO_COLOR;

/** @param {string} text @param {number} code */
export const paint = (text, code) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = (/** @type {string} */ text) => paint(text, 1);
export const red = (/** @type {string} */ text) => paint(text, 31);
export const green = (/** @type {string} */ text) => paint(text, 32);
export const yellow = (/** @type {string} */ text) => paint(text, 33);

/**
 * Runs a program in the project's root and resolves with its exit code and what it printed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, quiet?: boolean, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const take = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
      if (!options.quiet) process.stdout.write(chunk);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * pnpm at the project's own version, fetched by npm where it is not there: a new machine has node and npm alone.
 *
 * @param {readonly string[]} args
 * @param {{ quiet?: boolean, env?: NodeJS.ProcessEnv }} [options]
 */
export const pnpm = (args, options) => run("npx", ["-y", PNPM, ...args], options);

/** The path of a tool that the workspace's own dependencies brought. @param {string} name */
export const tool = (name) => join(ROOT, "node_modules", ".bin", name);

/** Installs what the lock file says, unless it is there already. */
export async function install() {
  if (isInstalled()) return;
  console.log(bold("Installing dependencies (the SQLite driver compiles for about a minute)"));
  const { code, output } = await pnpm(["install", "--frozen-lockfile", "--reporter=append-only"], {
    quiet: true,
  });
  if (code !== 0) {
    console.error(output);
    throw new Error("the dependencies could not be installed: see above");
  }
}

/** pnpm leaves a copy of the lock file it installed from: equal means installed. */
function isInstalled() {
  const installed = join(ROOT, "node_modules", ".pnpm", "lock.yaml");
  if (!existsSync(installed)) return false;
  return readFileSync(installed, "utf8") === readFileSync(join(ROOT, "pnpm-lock.yaml"), "utf8");
}

/** Compiles every package and app; turbo passes over what did not change, and takes some seconds to see that. */
export async function build() {
  // Not on stdout: that is the program's which comes after.
  console.error(bold("Checking the build, and building what changed"));
  const { code, output } = await pnpm(
    ["exec", "turbo", "run", "build", "--output-logs=errors-only"],
    {
      quiet: true,
      env: { TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    },
  );
  if (code !== 0) {
    console.error(output);
    throw new Error("the build failed: see above");
  }
}

/** A scratch folder of the checkout, emptied. @param {string} name */
export function scratch(name) {
  const dir = join(ROOT, "node_modules", ".cache", "tidemark", name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}

/**
 * Installs, builds, and hands the terminal over to a built program of the project with this process's arguments. Ends as
 * the program ends; 2 where it could not be brought that far.
 *
 * @param {string} program relative to the project's root
 * @param {{ nodeArgs?: readonly string[] }} [options]
 */
export async function handOver(program, options = {}) {
  try {
    await install();
    await build();
  } catch (error) {
    console.error(red(error instanceof Error ? error.message : String(error)));
    process.exitCode = 2;
    return;
  }
  const args = [...(options.nodeArgs ?? []), join(ROOT, program), ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, {
    stdio: "inherit",
    cwd: process.env.INIT_CWD ?? process.cwd(),
  });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("close", (code) => {
    process.exitCode = code ?? 2;
  });
}
