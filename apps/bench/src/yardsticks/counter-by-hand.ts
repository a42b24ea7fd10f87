import { systemClock } from "@tidemark/protocol";
import Database from "better-sqlite3";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";

/** What a client sends: the same fields that an append has on the wire. */
export const Append = z.strictObject({
  type: z.literal("append"),
  req: z.number().int().min(0),
  stream: z.string().min(1).max(256),
  entry: z.strictObject({ eventId: z.string().min(1).max(128), payload: z.unknown() }),
});

interface Pending {
  readonly socket: WebSocket;
  readonly request: z.infer<typeof Append>;
}

/**
 * What somebody would write for this one application: `ws`, zod and better-sqlite3. Every event is stored before it is
 * acknowledged, its id is refused a second time, all that arrived in one turn shares a transaction, and one frame with the
 * count and the events that made it follows. WAL and NORMAL, as the engine has them.
 */
export class CounterByHand {
  readonly socketUrl: string;
  readonly #sockets: WebSocketServer;
  readonly #db: Database.Database;
  readonly #insert: Database.Statement;
  readonly #count: Database.Statement;
  readonly #apply: (batch: readonly Pending[]) => number;
  #batch: Pending[] = [];

  static listen(file: string): Promise<CounterByHand> {
    return new Promise((resolve) => {
      const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
      sockets.on("listening", () => resolve(new CounterByHand(sockets, file)));
    });
  }

  private constructor(sockets: WebSocketServer, file: string) {
    const address = sockets.address();
    if (address === null || typeof address === "string") throw new Error("it has no port");
    this.socketUrl = `ws://127.0.0.1:${address.port}`;
    this.#sockets = sockets;
    this.#db = new Database(file);
    this.#db.pragma("journal_mode = WAL");
    this.#db.pragma("synchronous = NORMAL");
    this.#db.exec(`
      CREATE TABLE event (seq INTEGER PRIMARY KEY, stream TEXT NOT NULL, id TEXT NOT NULL, payload TEXT, UNIQUE (stream, id));
      CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
      INSERT INTO counter VALUES ('count', 0)`);
    this.#insert = this.#db.prepare("INSERT INTO event (stream, id, payload) VALUES (?, ?, ?)");
    this.#count = this.#db
      .prepare("UPDATE counter SET value = value + ? WHERE name = 'count' RETURNING value")
      .pluck();
    this.#apply = this.#db.transaction((batch: readonly Pending[]) => this.#write(batch)).immediate;
    sockets.on("connection", (socket) => {
      socket.on("message", (data: Buffer) => this.#receive(socket, data.toString()));
    });
  }

  close(): void {
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
    this.#db.close();
  }

  #receive(socket: WebSocket, text: string): void {
    const parsed = Append.safeParse(JSON.parse(text));
    if (!parsed.success) {
      socket.send(JSON.stringify({ type: "error", message: parsed.error.message }));
      return;
    }
    this.#batch.push({ socket, request: parsed.data });
    if (this.#batch.length === 1) systemClock.immediate(() => this.#flush());
  }

  #flush(): void {
    const batch = this.#batch;
    this.#batch = [];
    const count = this.#apply(batch);
    for (const { socket, request } of batch) {
      socket.send(JSON.stringify({ type: "ok", req: request.req }));
    }
    const done = batch.map(({ request }) => request.entry.eventId);
    const frame = JSON.stringify({ type: "frame", count, done });
    for (const client of this.#sockets.clients) client.send(frame);
  }

  #write(batch: readonly Pending[]): number {
    for (const { request } of batch) {
      const { eventId, payload } = request.entry;
      this.#insert.run(request.stream, eventId, JSON.stringify(payload ?? null));
    }
    return this.#count.get(batch.length) as number;
  }
}
