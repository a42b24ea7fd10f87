import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBetterSqlite3 } from "@tidemark/memory-engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Processes } from "./support/processes.js";

let processes: Processes;

beforeEach(() => {
  processes = new Processes();
});

afterEach(() => processes.end());

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

test.each([
  [["--bogus"], "Unknown option '--bogus'"],
  [["--port", "99999"], "--port (PORT) is 0 to 65535"],
  [["--patterns", fixture("twice.mjs")], "another pattern twice version 1"],
  [["--patterns", fixture("not-a-pattern.mjs")], "its export helper is a function and no pattern"],
  [["--patterns", fixture("throws.mjs")], "does not load: no lamp oil"],
])("%j ends with code 2 and says why", async (args, words) => {
  const toolshed = processes.start({ args });
  expect((await toolshed.exited).code).toBe(2);
  expect(toolshed.output.text).toContain(words);
});

test("a module of patterns is served, and told of to clients", async () => {
  const toolshed = await processes.start({ args: ["--patterns", fixture("good.mjs")] }).listening();
  const meta = (await (await fetch(`${toolshed.url}/api/meta`)).json()) as {
    patterns: { id: string; nodes: { name: string }[] }[];
  };
  const lamp = meta.patterns.find(({ id }) => id === "lamp");
  expect(lamp?.nodes.map(({ name }) => name)).toEqual(["lit", "toggle"]);
});

test("a port that is taken ends with code 4 and says how to choose another", async () => {
  const first = await processes.start().listening();
  const second = processes.start({ port: first.port });
  expect((await second.exited).code).toBe(4);
  expect(second.output.text).toContain(`port ${first.port} of 127.0.0.1 is taken`);
});

test("a data folder that cannot be written ends with code 3", async () => {
  const file = join(processes.dataDir, "file");
  writeFileSync(file, "");
  const toolshed = processes.start({ args: ["--data-dir", join(file, "below")] });
  expect((await toolshed.exited).code).toBe(3);
  expect(toolshed.output.text).toMatch(/the data folder .*below is no folder/u);
});

test("a demo store that is no store ends with code 3, and stays as it is", async () => {
  await (await processes.start().listening()).stop();
  const file = processes.storeFile();
  writeFileSync(file, "this is a text and no database, and long enough to be taken for one");
  const before = readFileSync(file);
  const toolshed = processes.start();
  expect((await toolshed.exited).code).toBe(3);
  expect(toolshed.output.text).toContain("--no-demo");
  expect(readFileSync(file)).toEqual(before);
});

test("a demo store of a newer release ends with code 3 and says so", async () => {
  await (await processes.start().listening()).stop();
  const driver = openBetterSqlite3({ path: processes.storeFile() });
  driver.exec("UPDATE store_meta SET value = '999' WHERE key = 'version'");
  driver.close();
  const toolshed = processes.start();
  expect((await toolshed.exited).code).toBe(3);
  expect(toolshed.output.text).toContain("newer than this code's");
});

test("one bad store is named in the log and keeps no other space from being served", async () => {
  await (await processes.start().listening()).stop();
  writeFileSync(processes.otherStoreFile(), "no database at all, whatever its name says it is");
  const toolshed = await processes.start().listening();
  expect(await toolshed.output.waitFor(/"tenure-failed"/u)).toContain('"code":"storage"');
  const ana = processes.person(() => toolshed, await toolshed.demo());
  await ana.space.ready;
  expect(await ana.poll.fire("vote", { option: "Soup" }).settled).toEqual({
    kind: "consequenced",
  });
});
