import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net";
import { afterEach } from "vitest";

const opened = new Set<() => Promise<void>>();
afterEach(async () => {
  const closing = [...opened].map((close) => close());
  opened.clear();
  await Promise.all(closing);
});

/** One request as a server got it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server on this machine. It is closed, its connections too, after the test. */
export interface LocalServer {
  readonly port: number;
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Connections that stand. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves when so many requests have come. */
  arrived(count: number): Promise<void>;
  /** Resolves when no connection stands. */
  quiet(): Promise<void>;
}

type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** An HTTP server that answers as told; it keeps what it got. */
export async function startServer(
  answer: Answer,
  tls?: { readonly key: string; readonly cert: string },
): Promise<LocalServer> {
  const seen: SeenRequest[] = [];
  const arrivals = new Notices();
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const got = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(got);
      arrivals.changed();
      answer(got, response);
    });
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  const { port, open, quiet } = await listen(server);
  return {
    port,
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    seen,
    open,
    arrived: (count) => arrivals.until(() => seen.length >= count),
    quiet,
  };
}

/** A server that says what it is told, byte by byte, to whoever connects and has sent a head. */
export async function startRawServer(
  speak: (socket: Socket, head: string) => void,
): Promise<LocalServer> {
  const seen: SeenRequest[] = [];
  const arrivals = new Notices();
  const server = createRawServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      seen.push({ method: "", path: "", headers: {}, body: data.toString() });
      arrivals.changed();
      speak(socket, data.toString());
    });
  });
  const { port, open, quiet } = await listen(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    open,
    arrived: (count) => arrivals.until(() => seen.length >= count),
    quiet,
  };
}

async function listen(server: Server | ReturnType<typeof createRawServer>) {
  const open = new Set<Socket>();
  const closes = new Notices();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => {
      open.delete(socket);
      closes.changed();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  opened.add(async () => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const socket of open) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return { port, open, quiet: () => closes.until(() => open.size === 0) };
}

/** Wakes those who wait for something to have changed. */
class Notices {
  readonly #waiting = new Set<() => void>();

  changed(): void {
    for (const wake of this.#waiting) wake();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}
