import { type Client, connect, type Space } from "@tidemark/client";
import {
  generateIdentity,
  systemClock,
  systemRandom,
  type Transport,
  webSocketTransport,
} from "@tidemark/protocol";
import type { Pattern } from "@tidemark/runtime";
import { WebSocket } from "ws";

/** So many appends at once that nothing is ever paced. */
const UNPACED = { burst: 1e9, ratePerSecond: 1e9 };

/** A transport of the `ws` package. */
export function socketTransport(url: string): Transport {
  // `ws` types its listeners by its own event classes; the shape that is used is the browser's.
  return webSocketTransport(() => new WebSocket(url, { perMessageDeflate: false }) as never);
}

/** A client of a new person; online when it resolves. Pacing is off. */
export async function person(transport: Transport, patterns: readonly Pattern[]): Promise<Client> {
  const client = connect({
    transport,
    identity: generateIdentity(systemRandom),
    clock: systemClock,
    random: systemRandom,
    patterns,
    policy: { appendPacing: UNPACED },
    onError: (error) => console.error(error),
  });
  await new Promise<void>((resolve) => {
    const look = (state: string): void => {
      if (state === "online") resolve();
    };
    client.status.subscribe((status) => look(status.state));
    look(client.status.value.state);
  });
  return client;
}

/** Founds a space that everybody may write to, and opens it. */
export async function newSpace(client: Client): Promise<Space> {
  const key = generateIdentity(systemRandom);
  const acl = { [client.whoami.principal]: "OWNER", "*": "WRITE" } as const;
  const { space: id } = await client.createSpace(key, acl);
  return opened(client, id);
}

/** Opens a space; its first frame has come when it resolves. */
export async function opened(client: Client, id: Space["id"]): Promise<Space> {
  const space = client.open(id);
  await space.ready;
  return space;
}
