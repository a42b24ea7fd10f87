import { type Random, seededRandom, type SessionId, type Transport } from "@tidemark/protocol";
import { bend } from "../intruder/bend.js";
import { type Attempt, Intruder, type OnBreach } from "../intruder/intruder.js";
import { forged, garbage, honest, huge, type Target, type Trick } from "../intruder/tricks.js";
import type { Places } from "./places.js";

/** Whom no access list lets do more than read. */
export const READER = "mallory";
/** Who may write as anybody may, and sends only what nobody may. */
export const FORGER = "eve";

/** What {@link Intruders} are made of. */
export interface IntrudersOptions {
  readonly places: Places;
  readonly transport: Transport;
  readonly onBreach: OnBreach;
}

const BENT = 12;
const OVERHEARD = 40;

/** Those who reach a world's server and mean no good. */
export class Intruders {
  readonly #options: IntrudersOptions;
  readonly #about: Intruder[] = [];
  /** The last texts that honest clients sent, as whoever listens on the way has them. */
  readonly #overheard: string[] = [];
  #came = 0;

  constructor(options: IntrudersOptions) {
    this.#options = options;
  }

  /** Somebody tries something on a space. The same number tries the same. */
  intrude(space: string, trick: Trick, number: number): void {
    const { places, transport, onBreach } = this.#options;
    const [piece] = places.piecesOf(space);
    const me = places.user(trick === "forged" ? FORGER : READER);
    if (piece === undefined) return;
    const target = {
      space: places.space(space),
      piece: piece.id,
      me,
      victim: places.user("alice"),
    };
    const attempt = this.#attempt(trick, target, seededRandom(number));
    const session = `i${(this.#came += 1)}` as SessionId;
    const told: OnBreach = (what) => onBreach(`${trick}: ${what}`);
    this.#about.push(new Intruder(transport.connect(), me, session, attempt, told));
  }

  /** All go. */
  leave(): void {
    for (const intruder of this.#about.splice(0)) intruder.leave();
  }

  /** Requests and texts that servers have refused those who are about. */
  get refused(): number {
    return this.#about.reduce((sum, { refused }) => sum + refused, 0);
  }

  /** The transport as an honest client has it, with somebody listening. */
  overhear(transport: Transport): Transport {
    return {
      connect: () => {
        const connection = transport.connect();
        const send = connection.send.bind(connection);
        connection.send = (text) => {
          this.#overheard.push(text);
          if (this.#overheard.length > OVERHEARD) this.#overheard.shift();
          send(text);
        };
        return connection;
      },
    };
  }

  #attempt(trick: Trick, target: Target, random: Random): Attempt {
    const look = { type: "space.open", space: target.space, watches: [{ id: "w", pieces: true }] };
    const signedIn = { texts: [], bodies: [], signsIn: true };
    switch (trick) {
      case "garbage":
        return { ...signedIn, signsIn: false, texts: random.next() < 0.1 ? [huge()] : garbage() };
      case "unasked":
        return { ...signedIn, signsIn: false, bodies: [look, ...honest(target)] };
      case "false-name":
        return { ...signedIn, as: target.victim };
      case "forged":
        return { ...signedIn, bodies: forged(target) };
      case "no-right":
        return { ...signedIn, bodies: [look, ...honest(target)] };
      case "bent":
        return { ...signedIn, texts: bentOf(honest(target), random) };
      case "overheard":
        return {
          ...signedIn,
          texts: this.#overheard.map(renumbered),
          signsIn: random.next() < 0.5,
        };
    }
  }
}

/** A text of somebody else under a request number that tells which answer is its own. */
function renumbered(text: string, at: number): string {
  const { type, req, ...body } = JSON.parse(text) as {
    readonly type: string;
    readonly req?: number;
  };
  return JSON.stringify(req === undefined ? { type, ...body } : { type, req: 2_000 + at, ...body });
}

function bentOf(bodies: readonly object[], random: Random): readonly string[] {
  return Array.from({ length: BENT }, (_, at) => {
    const body = bodies[Math.floor(random.next() * bodies.length)];
    return bend(JSON.stringify({ req: 1_000 + at, ...body }), random);
  });
}
