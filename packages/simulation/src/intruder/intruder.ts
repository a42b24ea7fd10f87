import {
  WIRE_VERSION,
  authMessageToSign,
  type ClientConnection,
  type FrameMessage,
  type Identity,
  instanceKey,
  scopeApplies,
  type ServerMessage,
  type SessionId,
} from "@tidemark/protocol";
import type { Body } from "./tricks.js";

/** What an intruder sends, and whether it gives a name first. */
export interface Attempt {
  readonly texts: readonly string[];
  readonly bodies: readonly Body[];
  readonly signsIn: boolean;
  /** Signs in as somebody else than who signs. */
  readonly as?: Identity;
}

const LOOKING: ReadonlySet<string> = new Set(["space.open", "watch.set", "space.close", "logout"]);
const SHOWN = 300;
/** Beyond the numbers that texts of others have. */
const OWN_REQUESTS = 1_000_000;

/** Told of what no server may do. */
export type OnBreach = (what: string) => void;

/** A client of the wire that breaks its rules, and notes whether it gets anywhere. It waits for nobody. */
export class Intruder {
  readonly #connection: ClientConnection;
  readonly #me: Identity;
  readonly #session: SessionId;
  readonly #attempt: Attempt;
  readonly #onBreach: OnBreach;
  readonly #asked = new Map<number, Body>();
  #req = OWN_REQUESTS;
  /** Requests that were answered by a refusal. */
  refused = 0;

  constructor(
    connection: ClientConnection,
    me: Identity,
    session: SessionId,
    attempt: Attempt,
    onBreach: OnBreach,
  ) {
    this.#connection = connection;
    this.#me = me;
    this.#session = session;
    this.#attempt = attempt;
    this.#onBreach = onBreach;
    connection.onMessage((text) => this.#hear(JSON.parse(text) as ServerMessage));
    connection.onOpen(() => this.#begin());
  }

  leave(): void {
    this.#connection.close();
  }

  #begin(): void {
    const { signsIn, texts } = this.#attempt;
    if (signsIn) this.#say({ type: "hello", version: WIRE_VERSION });
    else {
      for (const text of texts) this.#connection.send(text);
      this.#askAll();
    }
  }

  #hear(message: ServerMessage): void {
    switch (message.type) {
      case "challenge":
        if (this.#attempt.signsIn) this.#signIn(message);
        return;
      case "ok":
        return this.#accepted(message.req);
      case "error":
        this.refused += 1;
        return;
      case "frame":
        return this.#look(message);
      default:
        return;
    }
  }

  #signIn({
    serverId,
    challenge,
  }: {
    readonly serverId: string;
    readonly challenge: string;
  }): void {
    const { as } = this.#attempt;
    const rest = {
      challenge,
      principal: (as ?? this.#me).did,
      sessionId: this.#session,
      openNonce: "n",
    };
    const signature = this.#me.sign(authMessageToSign({ serverId, ...rest }));
    this.#ask({ type: "auth", ...rest, signature });
  }

  #accepted(req: number): void {
    const body = this.#asked.get(req) ?? { type: this.#typeOf(req) };
    if (body["type"] === "auth" && this.#asked.has(req) && this.#attempt.as === undefined) {
      for (const text of this.#attempt.texts) this.#connection.send(text);
      this.#askAll();
      return;
    }
    // A reader may look, at what is its own or everybody's.
    const looks = this.#attempt.signsIn && LOOKING.has(String(body["type"]));
    if (!looks || JSON.stringify(body).includes("scope"))
      this.#onBreach(`was granted ${JSON.stringify(body).slice(0, SHOWN)}`);
  }

  /** What was asked by a text that somebody else wrote. */
  #typeOf(req: number): unknown {
    const asked = this.#attempt.texts.map(requestIn).find((request) => request?.req === req);
    if (asked !== undefined) return asked.type;
    return "nothing that was asked";
  }

  #look({ rows }: FrameMessage): void {
    const me = { user: this.#me.did, session: this.#session };
    for (const { id, scopeKey } of rows) {
      if (!scopeApplies(scopeKey, me)) this.#onBreach(`was sent ${instanceKey(id, scopeKey)}`);
    }
  }

  #askAll(): void {
    for (const body of this.#attempt.bodies) this.#ask(body);
  }

  #ask(body: Body): void {
    this.#req += 1;
    this.#asked.set(this.#req, body);
    this.#say({ req: this.#req, ...body });
  }

  #say(message: Body): void {
    this.#connection.send(JSON.stringify(message));
  }
}

/** The request that a text makes, where it is one. */
function requestIn(text: string): { readonly req?: unknown; readonly type?: unknown } | undefined {
  try {
    return Object(JSON.parse(text)) as { readonly req?: unknown; readonly type?: unknown };
  } catch {
    return undefined;
  }
}
