import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openBetterSqlite3, openEngine } from "@tidemark/memory-engine";
import { identityFromSeed, type SpaceId, systemClock, systemRandom } from "@tidemark/protocol";
import { afterAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/startup-failure.js";
import { readConfig } from "../../src/config/config.js";
import { SERVING_FIGURES } from "../../src/metrics/figures.js";
import { metricName, servingMetrics } from "../../src/metrics/serving-metrics.js";

const DOC = readFileSync(
  new URL("../../../../docs/guides/running-a-server.md", import.meta.url),
  "utf8",
);
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "running-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Rows of the table that begins with the given header cell; cells without their backticks. */
function rows(header: string): string[][] {
  const [, body = ""] = DOC.split(`\n| ${header} |`);
  const lines = body.split("\n\n")[0]?.split("\n").slice(2) ?? [];
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replace(/^`(.*)`$/u, "$1")),
  );
}

function block(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "mu").exec(DOC)?.[1] ?? "";
}

test("the table of options is that of the program: names, variables and defaults", () => {
  const help = readConfig(["--help"], {});
  const text = help.kind === "help" ? help.text : "";
  const told = rows("flag");
  for (const [flag = "", variable = ""] of told) expect(text).toContain(flag || variable);
  const flags = [...text.matchAll(/--[a-z-]+/gu)].map(([flag]) => flag);
  const known = told.map(([flag]) => flag).filter((flag) => flag !== "");
  expect([...new Set(flags)].sort()).toEqual([...known, "--help"].sort());

  const request = readConfig([], {});
  const config = request.kind === "run" ? request.config : undefined;
  expect(told.map(([, , fallback]) => fallback)).toEqual([
    String(config?.port),
    config?.host,
    config?.dataDir,
    config?.patterns ?? "",
    config?.durability,
    String(config?.demo),
    String(config?.flushDeadlineMs),
    String(config?.leaseTtlMs),
    String(config?.parkedRuntimeRetentionMs),
    String(config?.storeReadThrough),
  ]);
});

test("every variable of the table is read", () => {
  for (const [, variable = "", fallback = ""] of rows("flag")) {
    const value = { normal: "full", true: "false", "": "x.mjs" }[fallback] ?? "12";
    expect([variable, readConfig([], { [variable]: value })]).not.toEqual([
      variable,
      readConfig([], {}),
    ]);
  }
});

test("[TS-E1] the variables of effects are those of the program, and each is read", () => {
  const help = readConfig(["--help"], {});
  const text = help.kind === "help" ? help.text : "";
  const told = rows("variable").map(([variable = ""]) => variable);
  const known = text.match(/\b(?:EGRESS|LLM|DATABASES|SERVER)[A-Z_]*\b/gu) ?? [];
  const flagged = rows("flag").map(([, variable]) => variable);
  expect([...told].sort()).toEqual(
    [...new Set(known)].filter((name) => !flagged.includes(name)).sort(),
  );
  for (const variable of told) {
    expect([variable, readConfig([], { [variable]: "7" })]).not.toEqual([
      variable,
      readConfig([], {}),
    ]);
  }
});

test("the table of exit codes is that of the program", () => {
  expect(rows("exit code").map(([code]) => Number(code))).toEqual(Object.values(EXIT));
});

test("[TS-M1] the metrics that the guide names are those that are served, counters and metrics in pairs", () => {
  const stats = {
    activeSpaces: 0,
    push: { prioritizedSessions: 0, followerSessions: 0, mixedFlushes: 0 },
  };
  const names = servingMetrics(stats).map(({ name }) => name);
  const pairs = rows("counter | metric");
  expect(pairs.length).toBeGreaterThan(5);
  for (const [path = "", shown = ""] of pairs) {
    for (const [, name = ""] of shown.matchAll(/(tidemark_\w+)/gu)) expect(names).toContain(name);
    const figure = Object.entries(SERVING_FIGURES).find(([known]) => known === path)?.[1];
    if (figure !== undefined) expect(metricName(path, figure.type)).toBe(shown);
  }
});

test("the statement for a store that was put back gives it a new history", () => {
  const space = identityFromSeed(new Uint8Array(32).fill(1)).did as unknown as SpaceId;
  const path = join(folder, "store.sqlite");
  const open = () =>
    openEngine({
      driver: openBetterSqlite3({ path }),
      space,
      storeClock: systemClock,
      random: systemRandom,
    });
  const before = open();
  const { historyId } = before;
  before.close();
  const driver = openBetterSqlite3({ path });
  driver.exec(block("sql"));
  driver.close();
  const after = open();
  expect(after.historyId).toMatch(/^[0-9a-f]{24}$/u);
  expect(after.historyId).not.toBe(historyId);
  after.close();
});

test("the program of the guide starts and stops a server", async () => {
  const scratch = join(PACKAGE, ".tidemark");
  mkdirSync(scratch, { recursive: true });
  const file = join(scratch, `guide-${process.pid}.mjs`);
  writeFileSync(file, block("js"));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/u);
  } finally {
    rmSync(file, { force: true });
  }
}, 60_000);
