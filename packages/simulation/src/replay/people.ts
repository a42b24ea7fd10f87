import {
  type Client,
  connect,
  type PieceHandle,
  type ResultOf,
  type Space,
  type ValueHandle,
} from "@tidemark/client";
import {
  type DocId,
  generateIdentity,
  type SpaceId,
  systemClock,
  systemRandom,
  type Transport,
} from "@tidemark/protocol";
import { replayText } from "./text-pattern.js";

/** A client of the replayed text. */
export interface Person {
  readonly client: Client;
  readonly space: Space;
  readonly piece: PieceHandle<ResultOf<typeof replayText>>;
}

/** Where the text is. */
export interface Place {
  readonly space: SpaceId;
  readonly piece: DocId;
}

/** As fast as the server takes them; after a loss, back soon. */
const POLICY = {
  appendPacing: { burst: Infinity, ratePerSecond: Infinity },
  backoff: { baseMs: 20, capMs: 250 },
};

/** A new identity. */
function newClient(transport: Transport, onError: (error: unknown) => void): Client {
  return connect({
    transport,
    identity: generateIdentity(systemRandom),
    clock: systemClock,
    random: systemRandom,
    patterns: [replayText],
    policy: POLICY,
    onError,
  });
}

/** Founds a space that everybody may write to, with a text in it. */
export async function author(
  transport: Transport,
  onError: (error: unknown) => void,
): Promise<{ readonly person: Person; readonly place: Place }> {
  const client = newClient(transport, onError);
  await online(client);
  const acl = { [client.whoami.principal]: "OWNER", "*": "WRITE" } as const;
  const { space: id } = await client.createSpace(generateIdentity(systemRandom), acl);
  const space = client.open(id);
  await space.ready;
  const { piece, created } = space.create(replayText);
  await created;
  return { person: { client, space, piece }, place: { space: id, piece: piece.id } };
}

/** Another identity at the same text; resolves when it sees it. */
export async function companion(
  transport: Transport,
  place: Place,
  onError: (error: unknown) => void,
): Promise<Person> {
  const client = newClient(transport, onError);
  const space = client.open(place.space);
  const piece = space.piece(place.piece, replayText);
  await space.ready;
  await shown(piece.get("text"));
  return { client, space, piece };
}

/** The value of a handle, once it is there. */
export function shown<T>(handle: ValueHandle<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    let end: (() => void) | undefined;
    end = handle.subscribe((value, { pending }) => {
      if (pending) return;
      resolve(value);
      end?.();
    });
    if (!handle.pending) end();
  });
}

function online(client: Client): Promise<void> {
  return new Promise((resolve) => {
    const look = (state: string): void => {
      if (state === "online") resolve();
    };
    client.status.subscribe(({ state }) => look(state));
    look(client.status.value.state);
  });
}
