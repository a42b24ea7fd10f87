import {
  createLoopback,
  identityFromSeed,
  seededRandom,
  type Acl,
  type Clock,
  type HolderId,
  type Identity,
  type Loopback,
  type SessionId,
  type SpaceId,
} from "@tidemark/protocol";
import { TestGates, VirtualClock } from "@tidemark/protocol/testing";
import type { Engine } from "../../engine-types.js";
import { MemoryServer } from "../memory-server.js";
import type { ServerPolicy } from "../policy.js";
import type { ServerLog } from "../types.js";
import { createTestStores, type TestStoreOptions } from "./memory-stores.js";
import { TestClient } from "./test-client.js";

/** How a test's server differs from the plain one. */
export interface TestServerOptions {
  readonly clock?: VirtualClock;
  /** The process's clock where it is not the test's own: one that can be killed or be off. */
  readonly processClock?: Clock;
  readonly gates?: TestGates;
  readonly serverId?: string;
  readonly seed?: number;
  readonly policy?: Partial<ServerPolicy>;
  readonly dir?: string;
  readonly wrap?: TestStoreOptions["wrap"];
  readonly log?: ServerLog;
}

/** One memory server with its clock, gates and transport, and clients that sign. */
export interface TestServer {
  readonly server: MemoryServer;
  readonly clock: VirtualClock;
  readonly gates: TestGates;
  readonly loopback: Loopback;
  /** Engines by space, as the server has them. */
  readonly engines: ReadonlyMap<SpaceId, Engine>;
  /** The same name, the same key, in every test. */
  identity(name: string): Identity;
  /** A client of the wire; `session` defaults to `${name}1`. */
  client(name: string, session?: string, openNonce?: string): TestClient;
  /** A connected client. */
  connected(name: string, session?: string, openNonce?: string): Promise<TestClient>;
  /** Makes a space named `name` with `owner`'s client and takes a lease in it for `holder`. */
  space(name: string, owner: TestClient, acl?: Readonly<Record<string, string>>): Promise<SpaceId>;
  /** Lets everything runnable run. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

/** The lease holder of tests. */
export const TEST_HOLDER = "server:test" as HolderId;

const SEED_BYTES = 32;

/** Sets up a memory server over stores in memory (or in `dir`), with time that a test moves. */
export function createTestServer(options: TestServerOptions = {}): TestServer {
  const clock = options.clock ?? new VirtualClock();
  const gates = options.gates ?? new TestGates();
  const processClock = options.processClock ?? clock;
  const random = seededRandom(options.seed ?? 1);
  const engines = new Map<SpaceId, Engine>();
  const stores = createTestStores({
    storeClock: processClock,
    random,
    ...(options.dir === undefined ? {} : { dir: options.dir }),
    wrap: (engine) => {
      const wrapped = options.wrap?.(engine) ?? engine;
      engines.set(engine.space, wrapped);
      return wrapped;
    },
  });
  const server = new MemoryServer({
    clock: processClock,
    random,
    gates,
    stores,
    serverId: options.serverId ?? "server.test",
    policy: options.policy ?? {},
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  const loopback = createLoopback(clock);
  loopback.onConnection((connection) => server.accept(connection));
  const run = (): Promise<void> => clock.drain();
  const client: TestServer["client"] = (name, session = `${name}1`, openNonce = "n1") =>
    new TestClient({
      identity: identityNamed(name),
      sessionId: session as SessionId,
      openNonce,
      connect: () => loopback.transport.connect(),
      run,
    });
  return {
    server,
    clock,
    gates,
    loopback,
    engines,
    identity: identityNamed,
    client,
    run,
    async connected(...args) {
      const connected = client(...args);
      const answer = await connected.connect();
      if (!answer.ok) throw new Error(`not authenticated: ${answer.error.message}`);
      return connected;
    },
    async space(name, owner, acl = {}) {
      const key = identityNamed(name);
      const answer = await owner.create(key, {
        [owner.identity.did]: "OWNER",
        ...acl,
      } as Acl);
      if (!answer.ok) throw new Error(`no space: ${answer.error.message}`);
      return key.did as unknown as SpaceId;
    },
    async stop() {
      await server.stop();
      await run();
    },
  };
}

const identities = new Map<string, Identity>();

/** Deterministic: the name's characters spread over the seed. */
function identityNamed(name: string): Identity {
  const known = identities.get(name);
  if (known !== undefined) return known;
  const seed = new Uint8Array(SEED_BYTES);
  for (let at = 0; at < SEED_BYTES; at += 1) {
    seed[at] = (name.charCodeAt(at % name.length) * 31 + at * 7 + name.length) & 0xff;
  }
  const identity = identityFromSeed(seed);
  identities.set(name, identity);
  return identity;
}
