#!/usr/bin/env node
import { spawn } from "node:child_process";
import { join } from "node:path";
import { build, install, red, ROOT } from "./lib.mjs";

/** Runs random worlds on the real parts, each made from a seed (packages/simulation). */
async function main() {
  await install();
  await build();
  const child = spawn(
    process.execPath,
    [join(ROOT, "packages/simulation/dist/cli/simulate.js"), ...process.argv.slice(2)],
    {
      stdio: "inherit",
      cwd: process.env.INIT_CWD ?? process.cwd(),
    },
  );
  child.on("close", (code) => {
    process.exitCode = code ?? 2;
  });
}

main().catch((error) => {
  console.error(red(error.message));
  process.exitCode = 2;
});
