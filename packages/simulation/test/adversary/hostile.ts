import { connect as connectTcp, type Socket } from "node:net";
import {
  authMessageToSign,
  type ErrorMessage,
  type Identity,
  type ServerMessage,
  type SessionId,
  WIRE_VERSION,
} from "@tidemark/protocol";
import { WebSocket } from "ws";

/** A socket that says what it likes, and hears everything. */
export class Hostile {
  readonly received: ServerMessage[] = [];
  readonly closed: Promise<number>;
  readonly socket: WebSocket;
  readonly #opened: Promise<void>;
  readonly #waiters = new Set<() => void>();
  #req = 0;

  constructor(url: string) {
    this.socket = new WebSocket(url, { perMessageDeflate: false });
    this.#opened = new Promise((resolve, reject) => {
      this.socket.on("open", () => resolve());
      this.socket.on("error", reject);
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code) => {
        resolve(code);
        this.#tell();
      });
    });
    this.socket.on("message", (data) => {
      this.received.push(JSON.parse(String(data)) as ServerMessage);
      this.#tell();
    });
  }

  static async dial(url: string): Promise<Hostile> {
    const hostile = new Hostile(url);
    await hostile.#opened;
    return hostile;
  }

  /** A hostile one with a true session. */
  static async signedIn(url: string, identity: Identity, session: string): Promise<Hostile> {
    const hostile = await Hostile.dial(url);
    hostile.say({ type: "hello", version: WIRE_VERSION });
    const challenge = await hostile.next((message) => message.type === "challenge");
    if (challenge.type !== "challenge") throw new Error("no challenge");
    const statement = {
      serverId: challenge.serverId,
      challenge: challenge.challenge,
      principal: identity.did,
      sessionId: session as SessionId,
      openNonce: "n1",
    };
    const { serverId: _, ...auth } = statement;
    const answer = await hostile.ask({
      type: "auth",
      ...auth,
      signature: identity.sign(authMessageToSign(statement)),
    });
    if (answer.type !== "ok") throw new Error("not authenticated");
    return hostile;
  }

  say(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The next message from now on that matches. */
  async next(
    matches: (message: ServerMessage) => boolean,
    from = this.received.length,
  ): Promise<ServerMessage> {
    for (;;) {
      const found = this.received.slice(from).find(matches);
      if (found !== undefined) return found;
      if (this.socket.readyState > WebSocket.OPEN) throw new Error("the connection ended");
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }

  /** Sends a request and returns its answer. */
  ask(body: Readonly<Record<string, unknown>>): Promise<ServerMessage> {
    this.#req += 1;
    const req = this.#req;
    const from = this.received.length;
    this.say({ req, ...body });
    return this.next(
      (message) => (message.type === "ok" || message.type === "error") && message.req === req,
      from,
    );
  }

  /** Sends text and returns the refusal of it. */
  async refusal(text: string): Promise<ErrorMessage["error"]> {
    const from = this.received.length;
    this.say(text);
    const answer = await this.next((message) => message.type === "error", from);
    if (answer.type !== "error") throw new Error("no error");
    return answer.error;
  }

  #tell(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}

/** Bytes straight to the port. Resolves with what came back once the server has ended the connection. */
export function rawBytes(port: number, chunks: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket: Socket = connectTcp(port, "127.0.0.1", () => {
      for (const chunk of chunks) socket.write(chunk);
    });
    socket.on("data", (data) => {
      heard += data.toString("latin1");
      // A close frame: the server waits for ours before it ends the connection.
      if (heard.split("\r\n\r\n", 2)[1]?.startsWith("\u0088") === true) socket.end();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(heard));
  });
}

/** The handshake of a WebSocket, by hand. */
export function upgradeTo(path: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
    "",
    "",
  ].join("\r\n");
}

/** One masked frame, by hand. */
export function frameOf(opcode: number, payload: Buffer, fin = true): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const masked = Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  const head = Buffer.from([(fin ? 0x80 : 0) | opcode, 0x80 | payload.length]);
  return Buffer.concat([head, mask, masked]);
}
