import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createApp, type HttpSources } from "../src/http/app.js";

const dir = mkdtempSync(join(tmpdir(), "toolshed-app-"));
const shellDir = join(dir, "dist");
mkdirSync(join(shellDir, "assets"), { recursive: true });
writeFileSync(join(dir, "secret.txt"), "secret");
writeFileSync(join(shellDir, "index.html"), "<p>shell</p>");
writeFileSync(join(shellDir, "assets", "index-abc.js"), "1;");

afterAll(() => rmSync(dir, { recursive: true, force: true }));

function appWith(sources: Partial<HttpSources> = {}) {
  return createApp({
    health: () => ({ ok: true, activeSpaces: 2 }),
    stats: () => ({ servingLoop: { waves: 3 } }),
    metrics: () => "tidemark_waves_total 3\n",
    meta: () => ({ name: "toolshed" }),
    shellDir,
    ...sources,
  });
}

test("[TS-R1] health, statistics and what the server is are served as JSON", async () => {
  const app = appWith();
  const health = await app.request("/api/health");
  expect([health.status, await health.json()]).toEqual([200, { ok: true, activeSpaces: 2 }]);
  expect(await (await app.request("/api/health/stats")).json()).toEqual({
    servingLoop: { waves: 3 },
  });
  expect(await (await app.request("/api/meta")).json()).toEqual({ name: "toolshed" });
});

test("[TS-M4] metrics are text of their own type, of the moment", async () => {
  const response = await appWith().request("/metrics");
  expect([response.status, await response.text()]).toEqual([200, "tidemark_waves_total 3\n"]);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("[TS-R2] a server that is not well answers 503", async () => {
  const response = await appWith({ health: () => ({ ok: false }) }).request("/api/health");
  expect(response.status).toBe(503);
});

test("[TS-R2] an unknown route of the API is an error in JSON, never the page", async () => {
  const response = await appWith().request("/api/elsewhere");
  expect([response.status, await response.json()]).toEqual([
    404,
    { error: "not-found", path: "/api/elsewhere" },
  ]);
});

test("[TS-R5] the socket's path says over plain HTTP that it wants an upgrade", async () => {
  for (const method of ["GET", "POST"]) {
    const response = await appWith().request("/api/storage/memory", { method });
    expect([response.status, response.headers.get("upgrade")]).toEqual([426, "websocket"]);
    expect(await response.json()).toMatchObject({ error: "upgrade-required" });
  }
});

test("[TS-R3] the page is asked for anew each time and its assets are kept, under a policy of its own", async () => {
  const page = await appWith().request("/");
  expect(await page.text()).toBe("<p>shell</p>");
  expect(page.headers.get("cache-control")).toBe("no-cache");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
  const asset = await appWith().request("/assets/index-abc.js");
  expect(asset.headers.get("content-type")).toContain("text/javascript");
  expect(asset.headers.get("cache-control")).toContain("immutable");
});

test.each([
  "/../secret.txt",
  "/..%2fsecret.txt",
  "/%2e%2e/secret.txt",
  "/assets/..%2f..%2fsecret.txt",
  "/%E0%A4%A",
  "/%00",
  "/assets",
])("[TS-R4] %s leads to no file", async (path) => {
  const response = await appWith().request(path);
  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain("secret");
});

test("without a built shell there is no page, and the API is served all the same", async () => {
  const app = appWith({ shellDir: undefined });
  expect((await app.request("/")).status).toBe(404);
  expect((await app.request("/api/health")).status).toBe(200);
});

test("[TS-R2] a fault while answering is an error in JSON", async () => {
  const app = appWith({
    stats: () => {
      throw new Error("no numbers");
    },
  });
  const response = await app.request("/api/health/stats");
  expect([response.status, await response.json()]).toEqual([
    500,
    { error: "internal", message: "no numbers" },
  ]);
});
