import {
  WIRE_VERSION,
  parseClientMessage,
  seededRandom,
  generateIdentity,
  verifySignature,
  authMessageToSign,
} from "@tidemark/protocol";
import type {
  ClientConnection,
  ClientMessage,
  ClientRequest,
  Identity,
  ServerMessage,
  Transport,
} from "@tidemark/protocol";
import { TestSocketPair } from "@tidemark/protocol/testing";

/** The server's side of the protocol, said word by word by a test. For what no server does on demand. */
export class ScriptedServer {
  readonly pairs: TestSocketPair[] = [];
  readonly received: ClientMessage[][] = [];
  /** What is said to a client that shows its signature; default: `ok`. */
  onAuth: (server: ScriptedServer, nth: number, req: number) => void = (server, nth, req) =>
    server.say(nth, { type: "ok", req, result: { resumed: false } });
  /** Called for each request but `auth`. */
  onRequest: (request: ClientRequest, nth: number) => void = () => undefined;

  readonly transport: Transport = {
    connect: (): ClientConnection => {
      const pair = new TestSocketPair();
      const nth = this.pairs.length;
      this.pairs.push(pair);
      this.received.push([]);
      pair.server.onMessage((text) => this.#receive(nth, text));
      return pair.client;
    },
  };

  /** Delivers both ways until nothing is under way. */
  flush(): void {
    for (const pair of this.pairs) pair.flush();
  }

  say(nth: number, message: ServerMessage): void {
    this.pairs[nth]?.server.send(JSON.stringify(message));
  }

  /** The requests that connection number `nth` has seen, but for `auth`. */
  requests(nth: number): ClientRequest[] {
    return (this.received[nth] ?? []).filter(
      (message): message is ClientRequest => "req" in message && message.type !== "auth",
    );
  }

  #receive(nth: number, text: string): void {
    const parsed = parseClientMessage(text);
    if (!parsed.ok) throw parsed.error;
    const { message } = parsed;
    this.received[nth]?.push(message);
    if (message.type === "hello") {
      const expiresAt = 0;
      this.say(nth, {
        type: "challenge",
        version: WIRE_VERSION,
        serverId: "srv",
        challenge: `c${nth}`,
        expiresAt,
      });
    } else if (message.type === "auth") {
      const { principal, sessionId, openNonce, challenge } = message;
      const said = authMessageToSign({
        serverId: "srv",
        challenge,
        principal,
        sessionId,
        openNonce,
      });
      if (!verifySignature(principal, said, message.signature)) throw new Error("bad signature");
      this.onAuth(this, nth, message.req);
    } else if ("req" in message) this.onRequest(message, nth);
  }
}

export const ALICE: Identity = generateIdentity(seededRandom(7));
