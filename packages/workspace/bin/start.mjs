#!/usr/bin/env node
import { spawn } from "node:child_process";
import { join } from "node:path";
import { build, install, red, ROOT } from "./lib.mjs";

/** Brings up toolshed from a fresh clone: installs, builds, and hands the terminal over to it. */
async function main() {
  await install();
  await build();
  const child = spawn(
    process.execPath,
    [join(ROOT, "apps/toolshed/dist/main.js"), ...process.argv.slice(2)],
    { stdio: "inherit", cwd: process.env.INIT_CWD ?? process.cwd() },
  );
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("close", (code, signal) => {
    process.exitCode = signal ? 1 : (code ?? 1);
  });
}

main().catch((error) => {
  console.error(red(error.message));
  process.exitCode = 1;
});
