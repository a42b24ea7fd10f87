import {
  type EventId,
  instanceKey,
  type JsonValue,
  scopeApplies,
  type SpaceId,
  type Seq,
} from "@tidemark/protocol";
import type { FiredEvent, PieceHandle } from "@tidemark/client";
import type { ClientFile } from "../scenario/file.js";
import type { ScenarioClient } from "../world/client.js";
import type { Complain } from "./oracle.js";
import type { Payload } from "./reference.js";

/** An event that a client fired, as its sender sees it. */
export interface WitnessedEvent {
  readonly client: ScenarioClient;
  readonly space: SpaceId;
  readonly fired: FiredEvent;
  readonly payload: Payload;
  /** Where the client was told that the append is durable. */
  acked: Seq | undefined;
}

/** An edit of which a client was told a verdict. */
export interface WitnessedWrite {
  readonly client: string;
  readonly space: SpaceId;
  readonly seq: Seq;
}

/** A frame with something in it that reached a client. */
export interface CarriedFrame {
  readonly client: ScenarioClient;
  readonly space: SpaceId;
  /** What it was made of, */
  readonly seq: Seq;
  /** and where the store stood as it arrived. */
  readonly head: Seq;
}

/** Stands beside the clients: notes what they are told and sees every frame and every published state. */
export class Witness {
  readonly events: WitnessedEvent[] = [];
  readonly writes: WitnessedWrite[] = [];
  /** Events that somebody sent again by hand: who fired one and was refused is not told of what became of the other. */
  readonly refired = new Set<EventId>();
  /**
   * Clients reach another process than the one that serves, or may have: what they demand is derived nowhere, and what
   * was derived for somebody else's run may be older than what stands beside it.
   */
  apart = false;
  /**
   * Pieces that a client has made, until W has come to the frame that brought them, with the seq of that: what a handler
   * read of them before anybody demanded it stands as it read it, and is derived one push late (seed 001 §1, §7).
   */
  readonly #born = new Map<string, Seq | undefined>();
  readonly #complain: Complain;
  readonly #onFire: (event: WitnessedEvent) => void;
  readonly #headOf: (space: SpaceId) => Seq;
  /** Frames with rows, until somebody has judged them. */
  readonly carried: CarriedFrame[] = [];
  frames = 0;
  states = 0;
  /** Falls that were seen, with the number of echoes taken back by then. */
  readonly #falls: { readonly what: string; readonly takenBack: number }[] = [];
  /** A refusal may take an echo back: what was seen to rise may then fall. */
  refusals = 0;

  constructor(
    complain: Complain,
    onFire: (event: WitnessedEvent) => void,
    headOf: (space: SpaceId) => Seq,
  ) {
    this.#complain = complain;
    this.#onFire = onFire;
    this.#headOf = headOf;
  }

  /** Stands beside a client from its first moment. */
  join(client: ScenarioClient, file: ClientFile): void {
    this.#watchFrames(client);
    this.#watchBirths(client);
    this.#watchFires(client);
    this.#watchEdits(client);
    if (file.watch === undefined) this.#watchPieces(client);
  }

  #watchFrames(client: ScenarioClient): void {
    const me = { user: client.identity.did, session: client.sessionId };
    client.client.onFrame((frame) => {
      this.frames += 1;
      const { space, seq, rows, gone } = frame;
      if (rows.length > 0 || gone.length > 0)
        this.carried.push({ client, space, seq, head: this.#headOf(space) });
      for (const row of [...frame.rows, ...frame.gone]) {
        if (scopeApplies(row.scopeKey, me)) continue;
        this.#complain(
          "scope",
          `${client.name} was sent ${instanceKey(row.id, row.scopeKey)}, which is not its own`,
        );
      }
    });
  }

  /** What was made here is demanded of the server with its first rows at the earliest. */
  #watchBirths(client: ScenarioClient): void {
    const create = client.create.bind(client);
    client.create = (...args) => {
      const made = create(...args);
      this.#born.set(bornKey(client, made.id), undefined);
      return made;
    };
    client.client.onFrame(({ seq, watermark, rows }) => {
      for (const row of rows) {
        const key = bornKey(client, row.id);
        const first = this.#born.has(key) && this.#born.get(key) === undefined;
        if (first && !("absent" in row)) this.#born.set(key, seq);
      }
      for (const [key, since] of this.#born) {
        const own = key.startsWith(bornKey(client, ""));
        if (own && since !== undefined && watermark >= since) this.#born.delete(key);
      }
    });
  }

  #watchFires(client: ScenarioClient): void {
    const fire = client.fire.bind(client);
    client.fire = (space, stream, payload) => {
      const fired = fire(space, stream, payload);
      const event: WitnessedEvent = {
        client,
        space,
        fired,
        payload: payload as unknown as Payload,
        acked: undefined,
      };
      fired.appended.then(
        ({ seq }) => void (event.acked = seq),
        () => void (this.refusals += 1),
      );
      this.events.push(event);
      this.#onFire(event);
      return fired;
    };
    const append = client.append.bind(client);
    client.append = (space, stream, entry) => {
      this.refired.add(entry["eventId"] as EventId);
      return append(space, stream, entry);
    };
  }

  #watchEdits(client: ScenarioClient): void {
    const note = (space: SpaceId, verdict: Promise<unknown>): Promise<unknown> => {
      verdict.then(
        (committed) => {
          const { seq } = committed as { seq: Seq };
          this.writes.push({ client: client.name, space, seq });
        },
        () => void (this.refusals += 1),
      );
      return verdict;
    };
    const write = client.write.bind(client);
    const patch = client.patch.bind(client);
    client.write = (place, value, path) => note(place.space, write(place, value, path));
    client.patch = (place, ops) => note(place.space, patch(place, ops));
  }

  #watchPieces(client: ScenarioClient): void {
    const watch = client.watch.bind(client);
    client.watch = (space, id, watched) => {
      watch(space, id, watched);
      if (watched === "whole") this.#watchPiece(client, client.open(space).piece(id));
    };
  }

  /** A fall is a fault unless its sender is told in the same step that something is taken back. */
  judgeFalls(): void {
    for (const { what, takenBack } of this.#falls.splice(0)) {
      if (this.#takenBack() === takenBack) this.#complain("falling", what);
    }
  }

  /**
   * Refusals, events that ended as anything but a success, and events that somebody else sent under the same id: what the
   * other one did may show beside an echo until the own one is passed over (R1). Their echoes go.
   */
  #takenBack(): number {
    const goes = this.events.filter(
      ({ fired: { outcome, eventId } }) =>
        outcome !== undefined && (outcome.kind !== "consequenced" || this.refired.has(eventId)),
    );
    return this.refusals + goes.length;
  }

  /** `double` is twice `count` wherever both are the store's own; what only grows is never seen to shrink. */
  #watchPiece(client: ScenarioClient, piece: PieceHandle): void {
    let highest = 0;
    let refusals = this.refusals;
    let pattern = piece.model?.pattern?.id;
    const pair = piece.get("pair");
    const count = piece.get("count");
    const look = (): void => {
      this.states += 1;
      const shown = pair.value as { c: number; d: number } | null | undefined;
      const demanded = !this.apart && !this.#born.has(bornKey(client, piece.id));
      if (shown && shown.d !== shown.c * 2 && demanded) {
        this.#complain("mixture", `${client.name} was shown pair ${JSON.stringify(shown)}`);
      }
      if (count.pending || typeof count.value !== "number") return;
      // A pattern that lacks an event's handler takes its echo back, well before the event is dropped (R7).
      const shownBy = piece.model?.pattern?.id;
      if (this.refusals !== refusals || shownBy !== pattern) {
        refusals = this.refusals;
        pattern = shownBy;
        highest = 0;
      }
      if (count.value < highest) {
        const what = `${client.name} saw count fall from ${highest} to ${count.value}`;
        this.#falls.push({ what, takenBack: this.#takenBack() });
      }
      highest = count.value;
    };
    pair.subscribe(look);
    count.subscribe(look);
  }
}

function bornKey(client: ScenarioClient, id: string): string {
  return `${client.name} ${id}`;
}

/** What a client shows for a name, echoes included. */
export function shownAs(value: unknown): JsonValue {
  return (value ?? null) as JsonValue;
}
