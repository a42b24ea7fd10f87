import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import { Hono } from "hono";
import { METRICS_CONTENT_TYPE } from "../metrics/exposition.js";
import { SOCKET_PATH } from "../socket/accept-sockets.js";

/** What the HTTP side asks the server for. */
export interface HttpSources {
  readonly health: () => { readonly ok: boolean; readonly [field: string]: unknown };
  readonly stats: () => unknown;
  /** The figures of the serving loop in the text format of Prometheus. */
  readonly metrics: () => string;
  readonly meta: () => unknown;
  /** The shell's built files; absent where it was not built. */
  readonly shellDir: string | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".map": "application/json",
  ".woff2": "font/woff2",
};

/** Nothing of the page comes from elsewhere, and nobody frames it. */
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'self'; connect-src 'self' ws: wss:; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Figures are of the moment: no cache between keeps them. */
const METRICS_HEADERS = { "content-type": METRICS_CONTENT_TYPE, "cache-control": "no-store" };

/** What a person, or a proxy that drops the upgrade, is told at the socket's path (RFC 9110, 15.5.22). */
const UPGRADE_REQUIRED = {
  error: "upgrade-required",
  message: "this path speaks the wire protocol over WebSocket; connect to it with a client",
};
const UPGRADE_HEADERS = { upgrade: "websocket", connection: "upgrade" };

/** The routes beside the socket: health, statistics, metrics, what this server is, and the shell's pages. */
export function createApp(sources: HttpSources): Hono {
  const app = new Hono();
  app.get("/api/health", (c) => {
    const health = sources.health();
    return c.json(health, health.ok ? 200 : 503);
  });
  app.get("/api/health/stats", (c) => c.json(sources.stats() as object));
  app.get("/metrics", (c) => c.body(sources.metrics(), 200, METRICS_HEADERS));
  app.get("/api/meta", (c) => c.json(sources.meta() as object));
  app.all(SOCKET_PATH, (c) => c.json(UPGRADE_REQUIRED, 426, UPGRADE_HEADERS));
  app.all("/api/*", (c) => c.json({ error: "not-found", path: c.req.path }, 404));
  app.get("*", async (c) => {
    const page = await readShell(sources.shellDir, c.req.path);
    return page
      ? c.body(page.body, 200, { ...PAGE_HEADERS, ...page.headers })
      : c.text("Not found", 404);
  });
  app.onError((error, c) => c.json({ error: "internal", message: error.message }, 500));
  return app;
}

interface Page {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Record<string, string>;
}

async function readShell(dir: string | undefined, path: string): Promise<Page | undefined> {
  if (dir === undefined) return undefined;
  const name = path === "/" ? "index.html" : path.slice(1);
  const file = normalize(join(dir, decodePath(name)));
  if (!file.startsWith(dir + sep)) return undefined;
  const body = await readOptional(file);
  if (!body) return undefined;
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  // Vite names assets by their content; the page itself must be asked for anew.
  const cache = name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
  return { body, headers: { "content-type": type, "cache-control": cache } };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "\0";
  }
}

async function readOptional(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(file));
  } catch {
    return undefined;
  }
}
