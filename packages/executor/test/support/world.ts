import {
  createIdSource,
  instanceKey,
  nodeIdFor,
  pieceIdFor,
  seededRandom,
  SPACE_SCOPE_KEY,
  streamIdFor,
  type Clock,
  type DocId,
  type EventId,
  type HolderId,
  type JsonValue,
  type PatchOp,
  type ScopeKey,
  type Seq,
  type SpaceId,
  type StreamEntry,
} from "@tidemark/protocol";
import {
  createTestServer,
  type TestClient,
  type TestServer,
  type TestServerOptions,
} from "@tidemark/memory-engine/testing";
import { describePiece, PatternRegistry, type Pattern } from "@tidemark/runtime";
import { EgressBudget } from "../../src/effects/budget.js";
import { resolvePolicy } from "../../src/policy.js";
import { storeLoads, type DocumentLoads } from "../../src/replica/loads.js";
import { SpaceStats } from "../../src/stats/counters.js";
import type { TenureOptions } from "../../src/tenure/tenure-options.js";
import {
  type EffectPerformers,
  ExecutorHost,
  type ServingPolicy,
  type ServingReport,
} from "../../src/index.js";

/** One process with a memory server and a host, one space, and clients of the wire. */
export interface World {
  readonly t: TestServer;
  readonly host: ExecutorHost;
  readonly space: SpaceId;
  readonly owner: TestClient;
  readonly reports: ServingReport[];
  /** Creates a piece of the pattern; its id comes from the name. */
  create(pattern: Pattern, name?: string, argument?: JsonValue): Promise<DocId>;
  /** Opens the space, watching the pieces' nodes by name. */
  open(client: TestClient, piece: DocId, names: readonly string[]): Promise<void>;
  fire(
    client: TestClient,
    piece: DocId,
    handler: string,
    payload?: JsonValue,
    id?: string,
  ): Promise<EventId>;
  write(client: TestClient, piece: DocId, node: string, value: JsonValue): Promise<Seq>;
  patch(client: TestClient, piece: DocId, node: string, ops: readonly PatchOp[]): Promise<Seq>;
  value(piece: DocId, node: string, scopeKey?: ScopeKey): JsonValue | undefined;
  entry(piece: DocId, handler: string, id: EventId): StreamEntry | undefined;
  /** Derived commits above `after`. */
  derived(after?: number): number;
  /** Derived commits that name the event. */
  naming(id: EventId): number;
  head(): Seq;
  watermark(): Seq;
  /** Lets everything runnable run, and due timers within `ms`. */
  settle(ms?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface WorldOptions extends TestServerOptions {
  readonly patterns: readonly Pattern[];
  readonly policy2?: Partial<ServingPolicy>;
  readonly effects?: EffectPerformers;
  /** Without it the host is started. */
  readonly started?: boolean;
  readonly loads?: DocumentLoads;
  /** The host's clock where it is not the test's own: a process that can stand still. */
  readonly hostClock?: Clock;
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const t = createTestServer(options);
  const owner = await t.connected("ana");
  const space = await t.space("home", owner, { "*": "WRITE" });
  const reports: ServingReport[] = [];
  const host = createHost(t, options, reports);
  if (options.started !== false) host.start();
  await t.run();
  return worldOf(t, host, owner, space, reports);
}

/** Another host over the same memory server, as a restarted executor would be. */
export function createHost(
  t: TestServer,
  options: Pick<WorldOptions, "patterns" | "policy2" | "loads" | "effects" | "hostClock">,
  reports: ServingReport[] = [],
  seed = 7,
): ExecutorHost {
  return new ExecutorHost({
    memory: t.server,
    stores: { list: () => [...t.engines.keys()] },
    patterns: new PatternRegistry(options.patterns),
    clock: options.hostClock ?? t.clock,
    gates: t.gates,
    random: seededRandom(seed),
    policy: options.policy2 ?? {},
    ...(options.loads === undefined ? {} : { loads: options.loads }),
    ...(options.effects === undefined ? {} : { effects: options.effects }),
    report: (report) => void reports.push(report),
  });
}

/** What a single tenure is built over, for tests without a host. */
export function tenureOptions(
  t: TestServer,
  space: SpaceId,
  patterns: readonly Pattern[],
  policy: Partial<ServingPolicy> = {},
): TenureOptions {
  return {
    served: t.server.space(space),
    holder: "server/one" as HolderId,
    patterns: new PatternRegistry(patterns),
    clock: t.clock,
    gates: t.gates,
    ids: createIdSource(t.clock, seededRandom(5)),
    policy: resolvePolicy(policy),
    performers: {},
    budget: new EgressBudget(t.clock, { maxOutstanding: 0, ratePerSecond: 0 }),
    stats: new SpaceStats(),
    loads: storeLoads,
    announce: () => undefined,
    report: () => undefined,
  };
}

let nextEvent = 0;

function worldOf(
  t: TestServer,
  host: ExecutorHost,
  owner: TestClient,
  space: SpaceId,
  reports: ServingReport[],
): World {
  const engine = () => {
    const found = t.engines.get(space);
    if (found === undefined) throw new Error("the space has no store");
    return found;
  };
  const ok = <T>(
    answer: { ok: true; result: T } | { ok: false; error: { message: string } },
  ): T => {
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.result;
  };
  const commit = async (client: TestClient, ops: readonly unknown[]): Promise<Seq> =>
    ok(await client.commit(space, { ops: ops as never })).seq;
  return {
    t,
    host,
    space,
    owner,
    reports,
    async create(pattern, name = pattern.id, argument = {}) {
      const id = pieceIdFor({ name });
      const value = describePiece(pattern, argument, id) as unknown as JsonValue;
      await commit(owner, [{ op: "set", id, value }]);
      return id;
    },
    async open(client, piece, names) {
      const watches = names.map((name) => ({ id: name, root: { id: nodeIdFor(piece, name) } }));
      ok(await client.call("space.open", { space, watches }));
    },
    async fire(client, piece, handler, payload = null, id) {
      nextEvent += 1;
      const eventId = (id ?? `e${nextEvent}`) as EventId;
      ok(await client.append(space, streamIdFor(piece, handler), { eventId, payload }));
      return eventId;
    },
    write: (client, piece, node, value) =>
      commit(client, [{ op: "set", id: nodeIdFor(piece, node), value }]),
    patch: (client, piece, node, ops) =>
      commit(client, [{ op: "patch", id: nodeIdFor(piece, node), value: ops }]),
    value: (piece, node, scopeKey = SPACE_SCOPE_KEY) =>
      engine().read(nodeIdFor(piece, node), scopeKey).value,
    entry: (piece, handler, id) => engine().entries.byEvent(streamIdFor(piece, handler), id)[0],
    derived: (after = 0) =>
      engine()
        .commitsSince(after as Seq)
        .filter((one) => one.class === "derived").length,
    naming: (id) =>
      engine()
        .commitsSince(0 as Seq)
        .filter((one) => one.consequenceOf?.includes(id) === true).length,
    head: () => engine().head(),
    watermark: () => engine().watermark(),
    async settle(ms = 500) {
      await t.clock.drain();
      const until = t.clock.monotonic() + ms;
      while (await t.clock.advanceToNextTimer(until - t.clock.monotonic())) await t.clock.drain();
    },
    async stop() {
      const stopping = host.stop();
      await t.clock.advance(10_000);
      await stopping;
      await t.stop();
    },
  };
}

/** The key of a node's space instance. */
export function nodeKey(piece: DocId, node: string) {
  return instanceKey(nodeIdFor(piece, node), SPACE_SCOPE_KEY);
}
