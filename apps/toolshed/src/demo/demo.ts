import { connect, type Client, type Space } from "@tidemark/client";
import {
  type Acl,
  type Clock,
  ConnectionError,
  type DocId,
  type Identity,
  isTidemarkError,
  type JsonValue,
  pieceIdFor,
  type Random,
  type SpaceId,
  type Transport,
} from "@tidemark/protocol";
import type { Pattern } from "@tidemark/runtime";
import { keptIdentity } from "./keys.js";

/** Where the demo is. */
export interface Demo {
  readonly space: SpaceId;
  readonly piece: DocId;
}

/** What {@link openDemo} is given. */
export interface DemoOptions {
  /** Where the owner's and the space's keys are kept. */
  readonly dataDir: string;
  /** The server that the space is to be on. */
  readonly transport: Transport;
  /** What the piece is made of. */
  readonly pattern: Pattern;
  readonly argument?: JsonValue;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Sees to it that the demo space and its one piece stand. It is a client like any other: it signs the server's
 * challenge as the demo's owner, and founds the space with the space's own key (R31). However often and from however
 * many processes of one folder it runs, there is one space with one piece. It leaves no session behind.
 *
 * @throws StorageError where the demo's store or a kept key cannot be used.
 */
export async function openDemo(options: DemoOptions): Promise<Demo> {
  const { dataDir, transport, pattern, clock, random } = options;
  const owner = keptIdentity(dataDir, "demo-owner", random);
  const key = keptIdentity(dataDir, "demo-space", random);
  const demo: Demo = { space: spaceOf(key), piece: pieceIdFor(causeOf(pattern)) };
  const client = connect({ transport, identity: owner, clock, random, patterns: [pattern] });
  try {
    await online(client);
    await found(client, key, { [owner.did]: "OWNER", "*": "WRITE" });
    await addPiece(client.open(demo.space), pattern, options.argument);
  } finally {
    await client.close();
  }
  return demo;
}

function spaceOf(key: Identity): SpaceId {
  return key.did as unknown as SpaceId;
}

/** The same on every start, so the piece's id is. */
function causeOf(pattern: Pattern): JsonValue {
  return { demo: pattern.id };
}

function online(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = client.status.subscribe(({ state, error, reason }) => {
      if (state === "online") resolve();
      else if (state === "stopped")
        reject(error ?? new ConnectionError(`the demo's owner was turned away: ${reason ?? ""}`));
      else return;
      queueMicrotask(() => end());
    });
  });
}

/** A space whose list its owner has changed since stands all the same. */
async function found(client: Client, key: Identity, acl: Acl): Promise<void> {
  try {
    await client.createSpace(key, acl);
  } catch (error) {
    if (!isTidemarkError(error, "unauthorized")) throw error;
  }
}

/** A piece that stands, or stood and was removed, is left as it is. */
async function addPiece(
  space: Space,
  pattern: Pattern,
  argument: JsonValue | undefined,
): Promise<void> {
  try {
    await space.create(pattern, argument, { cause: causeOf(pattern), watch: [] }).created;
  } catch (error) {
    const expected =
      isTidemarkError(error, "precondition") || isTidemarkError(error, "unauthorized");
    if (!expected) throw error;
  }
}
