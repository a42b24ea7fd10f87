import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WIRE_VERSION } from "@tidemark/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "../src/cli/run.js";
import { program } from "./support/program.js";

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "toolshed-run-"));
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("it says where it listens and where the demo is, and ends with 0 when asked to", async () => {
  const { host, output, signal } = program(["--port", "0", "--data-dir", dataDir]);
  const ended = run(host);
  const url = (await output.waitFor(/^toolshed listening on http/u)).split(" ").at(-1) ?? "";
  expect(await output.waitFor(/^lunch poll at /u)).toContain(`${url}/#/space/did:key:`);
  expect(await (await fetch(`${url}/api/meta`)).json()).toMatchObject({
    version: "1.2.3",
    protocol: WIRE_VERSION,
  });
  signal("SIGTERM");
  expect(await ended).toBe(0);
  expect(output.text).toContain('"message":"stopped"');
  await expect(fetch(url)).rejects.toThrow();
});

test("who asks twice does not wait", async () => {
  const { host, output, exits, signal } = program(["--port", "0", "--data-dir", dataDir]);
  const ended = run(host);
  await output.waitFor(/"started"/u);
  signal("SIGINT", 100);
  // The terminal told the whole group, and the parent passes it on: still one request.
  signal("SIGINT", 150);
  expect(exits).toEqual([]);
  signal("SIGINT", 1_200);
  expect(exits).toEqual([1]);
  await ended;
});

test("a tuning that does not parse is warned of, and the server starts with the bound", async () => {
  const env = { SERVER_EXECUTION_LEASE_TTL_MS: "soon" };
  const { host, output, signal } = program(
    ["--port", "0", "--data-dir", dataDir, "--no-demo"],
    env,
  );
  const ended = run(host);
  await output.waitFor(
    /SERVER_EXECUTION_LEASE_TTL_MS=soon is no positive number: 15000 ms stands/u,
  );
  await output.waitFor(/"started"/u);
  expect(output.text).not.toContain("lunch poll at");
  signal("SIGTERM");
  expect(await ended).toBe(0);
});

test("help is printed and nothing is run", async () => {
  const { host, output } = program(["--help"]);
  expect(await run(host)).toBe(0);
  expect(output.text).toContain("--data-dir PATH");
});
