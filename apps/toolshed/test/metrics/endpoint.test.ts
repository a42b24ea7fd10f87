import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lunchPoll, samplePatterns } from "@tidemark/patterns";
import type { Pattern } from "@tidemark/runtime";
import { afterAll, expect, test } from "vitest";
import { createToolshed } from "../../src/index.js";
import { readMetricsPage } from "../support/metrics-page.js";
import { voter } from "../support/voter.js";

const dataDir = mkdtempSync(join(tmpdir(), "toolshed-metrics-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Every number of a tree with its path; lists are none. */
function leavesOf(tree: object, prefix = ""): [path: string, value: number][] {
  return Object.entries(tree).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "number") return [[`${prefix}${name}`, value]];
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    return leavesOf(value, `${prefix}${name}.`);
  });
}

/** The documented way from a path to a name, written down a second time. */
function namesOf(path: string): readonly string[] {
  const snake = path
    .replace(/\./gu, "_")
    .replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
  const name = `tidemark_${snake.replace(/_ms$/u, "_seconds").replace(/_(?:count|total)$/u, "")}`;
  return [name, `${name}_total`];
}

test("[TS-M1] [TS-M2] both endpoints show the same figures, each once", async () => {
  const demo = lunchPoll as unknown as Pattern;
  const toolshed = await createToolshed({ dataDir, patterns: samplePatterns, demo });
  try {
    const ana = voter(toolshed.loopback, toolshed.demo ?? { space: "", piece: "" });
    await ana.space.ready;
    await ana.poll.fire("vote", { option: "Soup" }).settled;
    ana.client.drop();
    // The loops are over, so that no figure moves between the two readings.
    await toolshed.host.stop();
    const stats = (await (await fetch(`${toolshed.url}/api/health/stats`)).json()) as {
      servingLoop: object;
    };
    const response = await fetch(`${toolshed.url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const page = readMetricsPage(await response.text());

    const leaves = leavesOf(stats.servingLoop);
    expect(leaves.length).toBeGreaterThan(90);
    for (const [path, value] of leaves) {
      const shown = namesOf(path).filter((name) => page.samples.has(name));
      expect([path, shown.length]).toEqual([path, 1]);
      const scaled = path.endsWith("Ms") ? value / 1_000 : value;
      expect([path, page.samples.get(shown[0] ?? "")]).toEqual([path, scaled]);
    }
    expect(page.samples.get("tidemark_events_processed_total")).toBe(1);
    expect(page.samples.get("tidemark_derived_commits_total")).toBeGreaterThan(0);
  } finally {
    await toolshed.stop();
  }
});
