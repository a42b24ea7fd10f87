import {
  instanceKey,
  nodeIdFor,
  seededRandom,
  SPACE_SCOPE_KEY,
  streamIdFor,
} from "@tidemark/protocol";
import type {
  Acl,
  DerivedBatch,
  DocId,
  EntryStatus,
  FrameMessage,
  JsonValue,
  ScopeKey,
  Seq,
  SessionId,
  SpaceId,
  ValueOperation,
} from "@tidemark/protocol";
import type { VirtualClock } from "@tidemark/protocol/testing";
import { createTestServer, TEST_HOLDER } from "@tidemark/memory-engine/testing";
import type { TestServer, TestServerOptions } from "@tidemark/memory-engine/testing";
import { action, cell, computed, handler, pattern } from "@tidemark/runtime";
import { connect } from "@tidemark/client";
import type {
  Client,
  ConnectOptions,
  FiredEvent,
  PieceHandle,
  ResultOf,
  Space,
} from "@tidemark/client";
import { z } from "zod";

/** What most tests run: state, a derivation of it, and handlers of each kind. */
export const counter = pattern({
  id: "counter",
  version: "1",
  build: () => {
    const count = cell("count", z.number(), { default: 0 });
    const items = cell("items", z.array(z.string()), { default: [] });
    const draft = cell("draft", z.string(), { default: "", scope: "session" });
    const double = computed("double", () => count.get() * 2);
    const bump = action("bump", () => count.set(count.get() + 1));
    const inc = action("inc", () => count.increment());
    const add = handler("add", z.string(), (text) => items.append(text));
    const failIfZero = action("failIfZero", () => {
      if (count.get() === 0) throw new Error("zero");
      count.increment();
    });
    const type = handler("type", z.string(), (text) => draft.set(text));
    const relay = action("relay", () => inc.send());
    const fromDouble = action("fromDouble", () => count.set(double.get() + 1));
    return { count, items, draft, double, bump, inc, add, failIfZero, type, relay, fromDouble };
  },
});

export type Counter = PieceHandle<ResultOf<typeof counter>>;

/** One derived commit, in the words of a test. */
export interface Serve {
  readonly events?: readonly FiredEvent[];
  readonly status?: EntryStatus;
  readonly error?: string;
  readonly writes?: Readonly<Record<string, ValueOperation>>;
  readonly scopes?: Readonly<Record<string, ScopeKey>>;
  readonly watermark?: Seq;
}

/** A memory server, a space with one piece, and clients; the serving loop is the test itself. */
export class World {
  readonly server: TestServer;
  readonly errors: unknown[] = [];
  readonly frames = new Map<Client, FrameMessage[]>();
  space!: SpaceId;
  piece!: DocId;
  #nextSeed = 100;

  constructor(options: TestServerOptions = {}) {
    this.server = createTestServer(options);
  }

  get clock(): VirtualClock {
    return this.server.clock;
  }

  run(): Promise<void> {
    return this.server.run();
  }

  client(user: string, session: string, more: Partial<ConnectOptions> = {}): Client {
    this.#nextSeed += 1;
    const client = connect({
      transport: this.server.loopback.transport,
      identity: this.server.identity(user),
      sessionId: session as SessionId,
      clock: this.clock,
      random: seededRandom(this.#nextSeed),
      patterns: [counter],
      onError: (error) => this.errors.push(error),
      ...more,
    });
    const frames: FrameMessage[] = [];
    this.frames.set(client, frames);
    client.onFrame((frame) => frames.push(frame));
    return client;
  }

  /** Founds the space with a counter in it. */
  async found(
    owner: Client,
    acl: Readonly<Record<string, string>> = { "*": "WRITE" },
  ): Promise<void> {
    await this.run();
    const list = { [owner.whoami.principal]: "OWNER", ...acl } as Acl;
    const made = owner.createSpace(this.server.identity("space"), list);
    await this.run();
    this.space = (await made).space;
    const space = owner.open(this.space);
    await this.run();
    const { piece, created } = space.create(counter, {}, { cause: "p" });
    await this.run();
    await created;
    this.piece = piece.id;
    this.server.server.space(this.space).engine.lease.acquire(TEST_HOLDER, 3_600_000);
  }

  open(client: Client): { readonly space: Space; readonly piece: Counter } {
    const space = client.open(this.space);
    return { space, piece: space.piece(this.piece, counter) };
  }

  node(name: string): DocId {
    return nodeIdFor(this.piece, name);
  }

  stream(name: string): DocId {
    return streamIdFor(this.piece, name);
  }

  stored(name: string, scope: ScopeKey = SPACE_SCOPE_KEY): JsonValue | undefined {
    return this.server.server.space(this.space).engine.read(this.node(name), scope).value;
  }

  /** Commits a wave by hand: what the serving loop would, or what a test wants it to have made. */
  async serve(wave: Serve): Promise<void> {
    const served = this.server.server.space(this.space);
    const head = served.engine.head();
    const entries = (wave.events ?? []).map(({ stream, eventId }) => {
      const entry = served.engine.entries.byEvent(stream, eventId).at(-1);
      if (entry === undefined) throw new Error(`${eventId} is not in its stream`);
      return entry;
    });
    // W stays below what this wave has not handled.
    const left = served.engine.entries
      .pending()
      .filter((entry) => !entries.some((handled) => handled.seq === entry.seq));
    const covered = Math.min(head, ...left.map((entry) => entry.seq - 1)) as Seq;
    const watermark = wave.watermark ?? covered;
    const verdict = served.commitDerived(TEST_HOLDER, (): DerivedBatch => ({
      derivedThrough: watermark,
      consequenceOf: entries.map(({ eventId }) => eventId),
      changes: Object.entries(wave.writes ?? {}).map(([name, op]) => ({
        id: this.node(name),
        scopeKey: wave.scopes?.[name] ?? SPACE_SCOPE_KEY,
        op,
      })),
      appends: [],
      marks: entries.map(({ stream, seq, index, eventId }) => ({
        stream,
        seq,
        index,
        eventId,
        ...(wave.status === undefined ? {} : { status: wave.status }),
        ...(wave.error === undefined ? {} : { error: wave.error }),
      })),
      frontiers: entries.map(({ stream, seq }) => ({ stream, seq })),
      basis: [],
      watermark,
    }));
    if (!verdict.ok) throw verdict.error;
    await this.run();
  }

  key(name: string): ReturnType<typeof instanceKey> {
    return instanceKey(this.node(name), SPACE_SCOPE_KEY);
  }
}

export const set = (value: JsonValue): ValueOperation => ({ op: "set", value });

/** Every state that a value is shown in, in order. */
export function record<T>(value: {
  subscribe(fn: (value: T | undefined) => void): () => void;
}): (T | undefined)[] {
  const seen: (T | undefined)[] = [];
  value.subscribe((next) => seen.push(next));
  return seen;
}

/** A counter of alice's, served once, so that nothing of it is speculative. */
export async function served(): Promise<{ world: World; a1: Client } & ReturnType<World["open"]>> {
  const world = new World();
  const a1 = world.client("alice", "s1");
  await world.found(a1);
  const opened = world.open(a1);
  await world.run();
  await world.serve({ writes: { double: set(0) } });
  return { world, a1, ...opened };
}
