import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBetterSqlite3 } from "@tidemark/memory-engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "../src/cli/run.js";
import { Processes } from "./support/processes.js";
import { program } from "./support/program.js";

let processes: Processes;

beforeEach(() => {
  processes = new Processes();
});

afterEach(() => processes.end());

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** Runs the program until it listens, ends it, and returns what it printed with the exit code. */
async function start(args: readonly string[] = [], dataDir = processes.dataDir) {
  const { host, output, signal } = program(["--port", "0", "--data-dir", dataDir, ...args]);
  const ended = run(host);
  void output.waitFor(/"started"/u).then(
    () => signal("SIGTERM"),
    () => undefined,
  );
  return { code: await ended, text: output.text };
}

test("a real process ends with the code, and says why", async () => {
  const toolshed = processes.start({ args: ["--bogus"] });
  expect((await toolshed.exited).code).toBe(2);
  expect(toolshed.output.text).toContain("Unknown option '--bogus'");
});

test.each([
  [["--bogus"], "Unknown option '--bogus'"],
  [["--port", "99999"], "--port (PORT) is 0 to 65535"],
  [["--patterns", fixture("twice.mjs")], "another pattern twice version 1"],
  [["--patterns", fixture("not-a-pattern.mjs")], "its export helper is a function and no pattern"],
  [["--patterns", fixture("throws.mjs")], "does not load: no lamp oil"],
])("%j ends with code 2 and says why", async (args, words) => {
  const { code, text } = await start(args);
  expect(code).toBe(2);
  expect(text).toContain(words);
});

test("a module of patterns is served by a real process, and told of to clients", async () => {
  const toolshed = await processes.start({ args: ["--patterns", fixture("good.mjs")] }).listening();
  const meta = (await (await fetch(`${toolshed.url}/api/meta`)).json()) as {
    patterns: { id: string; nodes: { name: string }[] }[];
  };
  const lamp = meta.patterns.find(({ id }) => id === "lamp");
  expect(lamp?.nodes.map(({ name }) => name)).toEqual(["lit", "toggle"]);
});

test("a port that is taken ends with code 4 and says how to choose another", async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => void holder.listen(0, "127.0.0.1", resolve));
  const { port } = holder.address() as AddressInfo;
  const { code, text } = await start(["--port", String(port)]);
  holder.close();
  expect(code).toBe(4);
  expect(text).toContain(`port ${port} of 127.0.0.1 is taken`);
});

test("[TS-F1] a data folder that cannot be written ends with code 3", async () => {
  const file = join(processes.dataDir, "file");
  writeFileSync(file, "");
  const { code, text } = await start([], join(file, "below"));
  expect(code).toBe(3);
  expect(text).toMatch(/the data folder .*below is no folder/u);
});

test.runIf(process.platform === "linux")(
  "[TS-F1] a data folder where the system makes none ends a real process with code 3, and says so",
  async () => {
    const toolshed = processes.start({ dataDir: "/proc/none/below" });
    expect((await toolshed.exited).code).toBe(3);
    expect(toolshed.output.text).toContain("the data folder /proc/none/below cannot be made");
  },
);

test("a demo store that is no store ends with code 3, and stays as it is", async () => {
  expect((await start()).code).toBe(0);
  const file = processes.storeFile();
  writeFileSync(file, "this is a text and no database, and long enough to be taken for one");
  const before = readFileSync(file);
  const { code, text } = await start();
  expect(code).toBe(3);
  expect(text).toContain("--no-demo");
  expect(readFileSync(file)).toEqual(before);
  expect((await start(["--no-demo"])).code).toBe(0);
});

test("a demo store of a newer release ends with code 3 and says so", async () => {
  expect((await start()).code).toBe(0);
  const driver = openBetterSqlite3({ path: processes.storeFile() });
  driver.exec("UPDATE store_meta SET value = '999' WHERE key = 'version'");
  driver.close();
  const { code, text } = await start();
  expect(code).toBe(3);
  expect(text).toContain("newer than this code's");
});

test("one bad store is named in the log and keeps no other space from being served", async () => {
  expect((await start()).code).toBe(0);
  writeFileSync(processes.otherStoreFile(), "no database at all, whatever its name says it is");
  const toolshed = await processes.start().listening();
  expect(await toolshed.output.waitFor(/"tenure-failed"/u)).toContain('"code":"storage"');
  const ana = processes.person(() => toolshed, await toolshed.demo());
  await ana.space.ready;
  expect(await ana.poll.fire("vote", { option: "Soup" }).settled).toEqual({
    kind: "consequenced",
  });
});
