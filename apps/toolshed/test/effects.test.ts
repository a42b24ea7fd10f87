import { createServer, type RequestListener, type Server } from "node:http";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect } from "@tidemark/client";
import { userDatabaseFile } from "@tidemark/executor";
import { openBetterSqlite3 } from "@tidemark/memory-engine";
import { generateIdentity, type SpaceId, systemClock, systemRandom } from "@tidemark/protocol";
import { fetchData, generateObject, generateText, pattern, sqliteQuery } from "@tidemark/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { run } from "../src/cli/run.js";
import { type EffectsConfig, readEffectsConfig } from "../src/config/effects-config.js";
import { openEffects } from "../src/effects/open-effects.js";
import { createToolshed } from "../src/toolshed.js";
import { program } from "./support/program.js";

const KEY = "sk-not-a-key-of-anybody";
let dataDir: string;
const servers: Server[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "toolshed-effects-"));
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function listening(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function configOf(env: Readonly<Record<string, string>>): EffectsConfig {
  const { config, problems } = readEffectsConfig(env, dataDir);
  expect(problems).toEqual([]);
  return config;
}

/** One effectful node of each kind, against the given port of this machine. */
function effectsPattern(port: number) {
  const messages = [{ role: "user" as const, content: "How are you?" }];
  return pattern({
    id: "effects",
    version: "1",
    build: () => ({
      page: fetchData("page", () => ({ url: `http://127.0.0.1:${port}/page` }), {
        schema: z.object({ n: z.number() }),
      }),
      inner: fetchData("inner", () => ({ url: "http://169.254.169.254/" })),
      text: generateText("text", () => ({ model: "small", messages })),
      object: generateObject("object", () => ({ model: "small", messages }), {
        schema: z.object({ n: z.number() }),
      }),
      rows: sqliteQuery("rows", () => ({ statement: "SELECT n FROM item", params: [] })),
    }),
  });
}

/** Resolves with a node's settled value. */
function settled(cell: {
  readonly value: unknown;
  subscribe(fn: (value: unknown) => void): unknown;
}) {
  return new Promise<unknown>((resolve) => {
    const look = (value: unknown): void => {
      if ((value as { readonly pending?: boolean } | undefined)?.pending === false) resolve(value);
    };
    cell.subscribe(look);
    look(cell.value);
  });
}

test("[TS-E5] effectful nodes get their answers: from a host, from a model, from a database", async () => {
  const asked: unknown[] = [];
  const port = await listening((request, response) => {
    asked.push(request.headers.authorization);
    response.setHeader("content-type", "application/json");
    const content = '{"n":2}';
    response.end(
      request.url === "/page"
        ? '{"n":1}'
        : JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] }),
    );
  });
  const effects = await openEffects(
    configOf({
      EGRESS_PORTS: `${port},80`,
      EGRESS_NETWORKS: "127.0.0.1",
      LLM_URL: `http://127.0.0.1:${port}/v1`,
      LLM_MODELS: "small",
      LLM_KEY: KEY,
    }),
    systemClock,
  );
  if (typeof effects === "string") throw new Error(effects);
  const nodes = effectsPattern(port);
  const toolshed = await createToolshed({ dataDir, patterns: [nodes], effects });
  const me = generateIdentity(systemRandom);
  const client = connect({
    transport: toolshed.loopback,
    identity: me,
    clock: systemClock,
    random: systemRandom,
  });
  const key = generateIdentity(systemRandom);
  const file = userDatabaseFile(join(dataDir, "databases"), key.did as unknown as SpaceId);
  mkdirSync(dirname(file), { recursive: true });
  const database = openBetterSqlite3({ path: file });
  database.exec("CREATE TABLE item (n INTEGER); INSERT INTO item VALUES (3)");
  database.close();
  const { space } = await client.createSpace(key, { [me.did]: "OWNER" });
  const { piece } = client.open(space).create(nodes);
  const names = ["page", "inner", "text", "object", "rows"] as const;
  const values = await Promise.all(names.map((name) => settled(piece.get(name))));
  expect(values).toMatchObject([
    { result: { n: 1 } },
    { error: { kind: "refused", reason: "address" } },
    { result: '{"n":2}' },
    { result: { n: 2 } },
    { result: [{ n: 3 }] },
  ]);
  expect(JSON.stringify(values)).not.toContain(KEY);
  expect(asked.sort()).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`, undefined]);
  await client.close();
  await toolshed.stop();
});

test.each([
  [{ EGRESS_HOSTS: "http://a.example" }, "EGRESS_HOSTS: "],
  [{ EGRESS_PORTS: "https" }, "EGRESS_PORTS: "],
  [{ EGRESS_PORTS: "99999" }, "EGRESS_PORTS: "],
  [{ EGRESS_NETWORKS: "any" }, "EGRESS_NETWORKS: "],
  [{ EGRESS_HEADERS: "host" }, "EGRESS_HEADERS: "],
  [{ LLM_URL: "api.example", LLM_MODELS: "small" }, "LLM_URL: "],
  [{ LLM_URL: "http://api.example", LLM_MODELS: "small", LLM_KEY: KEY }, "LLM_URL: "],
  [{ LLM_URL: "https://api.example", LLM_MODELS: "small", LLM_KEY: `${KEY} x` }, "LLM_KEY: "],
  [
    { LLM_URL: "https://api.example", LLM_MODELS: "small", LLM_KEY_FILE: "/no/key" },
    "LLM_KEY_FILE: ",
  ],
])(
  "[TS-E2] %o is refused at the start with exit code 2, in words without the key",
  async (env, words) => {
    const { host, output } = program(["--port", "0", "--data-dir", dataDir], env);
    expect(await run(host)).toBe(2);
    expect(output.text).toContain(`toolshed: ${words}`);
    expect(output.text).not.toContain(KEY);
  },
);

test("[TS-E4] a key may lie in a file, and is in no line of output", async () => {
  const file = join(dataDir, "key");
  writeFileSync(file, `${KEY}\n`);
  const env = { LLM_URL: "https://api.example/v1", LLM_MODELS: "small", LLM_KEY_FILE: file };
  const { host, output, signal } = program(
    ["--port", "0", "--data-dir", dataDir, "--no-demo"],
    env,
  );
  const ended = run(host);
  await output.waitFor(/"started"/u);
  signal("SIGTERM");
  expect(await ended).toBe(0);
  expect(output.text).not.toContain(KEY);
});

test("[TS-E5] a server that is closed to egress has no performer for fetches", async () => {
  const effects = await openEffects(configOf({ EGRESS: "closed" }), systemClock);
  expect(typeof effects === "string" ? effects : Object.keys(effects.performers)).toEqual([
    "sqliteQuery",
  ]);
});
