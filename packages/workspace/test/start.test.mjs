import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const START = fileURLToPath(new URL("../bin/start.mjs", import.meta.url));
let dir;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "workspace-start-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A pnpm that builds nothing: it waits until it is let go, and fails. */
function heldBuild() {
  const gate = join(dir, "gate");
  execFileSync("mkfifo", [gate]);
  const script = `#!/bin/sh\nread -r _ < '${gate}'\necho 'no build here'\nexit 1\n`;
  writeFileSync(join(dir, "npx"), script, { mode: 0o755 });
  // Open for both, so that neither side waits for the other.
  const fd = openSync(gate, "r+");
  return { release: () => writeSync(fd, "\n"), close: () => closeSync(fd) };
}

test("[WS-R1] the start says at once that it checks the build, and ends with 2 where that fails", async () => {
  const build = heldBuild();
  const env = { ...process.env, PATH: `${dir}:${process.env.PATH}` };
  const child = spawn(process.execPath, [START], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => void child.on("close", resolve));
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => void (said.stdout += chunk));
  try {
    await new Promise((resolve) => {
      child.stderr.on("data", (chunk) => {
        said.stderr += chunk;
        resolve();
      });
    });
    expect(said).toEqual({
      stdout: "",
      stderr: "Checking the build, and building what changed\n",
    });
  } finally {
    build.release();
  }
  expect(await ended).toBe(2);
  build.close();
  expect(said.stderr).toContain("no build here\n\nthe build failed: see above");
});
