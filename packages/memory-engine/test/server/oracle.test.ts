import { expect, test } from "vitest";
import {
  ACL_DOC,
  instanceKey,
  parseInstanceKey,
  resolveScopeKey,
  scopeKindOf,
  seededRandom,
  SPACE_SCOPE_KEY,
  walkSelector,
  type Cursor,
  type InstanceKey,
  type JsonValue,
  type ScopeKind,
  type Seq,
  type SpaceId,
  type Watch,
} from "@tidemark/protocol";
import { createTestServer, type TestClient, type TestServer } from "../../src/testing/index.js";
import { derive, doc, link, setOp } from "./support.js";

/*
 * The oracle: whatever happens, in whatever order, what a connected client holds after a flush is
 * what a walk of the store from scratch reaches for it, value by value, and nothing else.
 */

const SEEDS = Number(process.env["FUZZ_RUNS"] ?? 8);
const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1);
const STEPS = 60;
const NAMES = ["a", "b", "c", "d", "e", "f"];
/** Few, so that patches meet. */
const PATCHED = ["a", "b"];
const SCOPES: readonly (ScopeKind | undefined)[] = [undefined, undefined, "user", "session"];

interface World {
  readonly t: TestServer;
  readonly home: SpaceId;
  readonly clients: readonly Player[];
  readonly pick: <T>(from: readonly T[]) => T;
  readonly chance: () => number;
  readonly done: string[];
}

interface Player {
  readonly client: TestClient;
  watches: readonly Watch[];
  /** The list in force when the last frame came: what a cursor stands for. */
  confirmed: readonly Watch[];
  cursor: Cursor | undefined;
  historyId: string;
  online: boolean;
}

function someValue(world: World): JsonValue {
  const { pick, chance } = world;
  if (chance() < 0.2) return Math.floor(chance() * 100);
  const target = (): JsonValue => link(pick(NAMES), pick(SCOPES));
  if (chance() < 0.2) return target();
  return { list: [target(), { x: target() }, 1], n: Math.floor(chance() * 10) };
}

function someWatches({ pick, chance }: World): readonly Watch[] {
  const watches: Watch[] = [];
  for (let n = 0; n < 1 + Math.floor(chance() * 3); n += 1) {
    const scope = pick(SCOPES);
    const root = { id: doc(pick(NAMES)), ...(scope === undefined ? {} : { scope }) };
    const selector = pick([
      { kind: "any" },
      { kind: "value" },
      { kind: "object", keys: { list: { kind: "any" } } },
      { kind: "follow", to: { kind: "any" } },
      undefined,
    ] as const);
    watches.push({ id: `w${n}`, root, ...(selector === undefined ? {} : { selector }) });
  }
  if (chance() < 0.2) watches.push({ id: "p", pieces: true, selector: { kind: "any" } });
  return watches;
}

const STEP_KINDS: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  async set(world) {
    const scope = world.pick(SCOPES) as never;
    const ops = [setOp(world.pick(NAMES), someValue(world), scope)];
    await online(world)?.client.commit(world.home, { ops });
  },
  async patch(world) {
    const patches = [
      { op: "append", path: ["list"], value: link(world.pick(NAMES)), ifAbsent: [] },
      { op: "replace", path: ["n"], value: 7 },
      { op: "increment", path: ["n"], value: 1, ifAbsent: 0 },
      { op: "remove", path: ["list", 0] },
    ];
    const op = { op: "patch", id: doc(world.pick(PATCHED)), value: [world.pick(patches)] };
    await online(world)?.client.commit(world.home, { ops: [op as never] });
  },
  async remove(world) {
    const op = { op: "delete" as const, id: doc(world.pick(NAMES)) };
    await online(world)?.client.commit(world.home, { ops: [op] });
  },
  async piece(world) {
    const id = `piece:${world.pick(NAMES)}`;
    const op = { op: "set", id, value: { result: { x: link(world.pick(NAMES)) } } };
    await online(world)?.client.commit(world.home, { ops: [op as never] });
  },
  async derived(world) {
    const { client } = world.pick(world.clients);
    const actor = { user: client.identity.did, session: client.sessionId };
    const scopeKey = resolveScopeKey(world.pick(SCOPES) ?? "space", actor);
    const value = someValue(world);
    derive(world.t, world.home, {
      changes: [{ id: doc(world.pick(NAMES)), scopeKey, op: { op: "set", value } }],
      watermark: world.t.server.space(world.home).engine.head(),
    });
  },
  async rewatch(world) {
    const player = online(world);
    if (player === undefined) return;
    player.watches = someWatches(world);
    await player.client.call("watch.set", { space: world.home, watches: player.watches });
  },
  async burst(world) {
    world.t.gates.hold("push:before");
    for (let n = 0; n < 3; n += 1) await STEP_KINDS["patch"]?.(world);
    await STEP_KINDS["set"]?.(world);
    await STEP_KINDS["derived"]?.(world);
    world.t.gates.open();
  },
  async offline(world) {
    const player = online(world);
    if (player === undefined || world.clients.filter((one) => one.online).length < 2) return;
    player.online = false;
    await player.client.disconnect();
  },
  async back(world) {
    const player = world.clients.find((one) => !one.online);
    if (player === undefined) return;
    await player.client.connect();
    await open(world, player);
  },
  /** A session comes back in the midst of what others were told in part and in part not yet. */
  async backInBurst(world) {
    const player = world.clients.find((one) => !one.online) ?? online(world);
    if (player === undefined) return;
    player.online = false;
    await player.client.disconnect();
    if (online(world) === undefined) {
      await player.client.connect();
      await open(world, player);
      return;
    }
    for (let n = 0; n < 3; n += 1) await STEP_KINDS["patch"]?.(world);
    await world.t.run();
    world.t.gates.hold("push:before");
    await STEP_KINDS["patch"]?.(world);
    await player.client.connect();
    await open(world, player);
    for (let n = 0; n < 4; n += 1) await STEP_KINDS["patch"]?.(world);
    world.t.gates.open();
  },
  async failedFlush(world) {
    world.t.gates.fail("push:before", new Error("io"));
    await STEP_KINDS["set"]?.(world);
    await world.t.clock.advance(10_000);
  },
};

function online(world: World): Player | undefined {
  return world.pick(world.clients.filter((one) => one.online));
}

async function open(world: World, player: Player): Promise<void> {
  const { cursor } = player;
  const watches = cursor === undefined ? player.watches : player.confirmed;
  const answer = await player.client.call("space.open", {
    space: world.home,
    watches,
    ...(cursor === undefined ? {} : { cursor }),
  });
  if (!answer.ok) throw new Error(answer.error.message);
  player.historyId = answer.result.historyId;
  player.watches = watches;
  player.online = true;
}

/** Everything a walk from scratch reaches for the player, with the store's values. */
function truth(world: World, player: Player): Map<InstanceKey, [JsonValue | undefined, Seq]> {
  const { engine } = world.t.server.space(world.home);
  const actor = { user: player.client.identity.did, session: player.client.sessionId };
  const read = (key: InstanceKey) => {
    const { id, scopeKey } = parseInstanceKey(key);
    return engine.read(id, scopeKey);
  };
  const roots = player.watches.flatMap((watch) =>
    watch.pieces === true
      ? engine
          .listByPrefix("piece:", SPACE_SCOPE_KEY)
          .map(({ id }) => ({ watch, key: instanceKey(id, SPACE_SCOPE_KEY) }))
      : [
          {
            watch,
            key: instanceKey(
              watch.root?.id ?? doc("none"),
              resolveScopeKey(watch.root?.scope ?? "space", actor),
            ),
          },
        ],
  );
  const reached = new Set<InstanceKey>();
  for (const { watch, key } of roots) {
    const { id, scopeKey } = parseInstanceKey(key);
    walkSelector({
      root: { id, scope: scopeKindOf(scopeKey) },
      selector: watch.selector ?? { kind: "value" },
      actor,
      space: world.home,
      read,
      track: (met) => void reached.add(met),
    });
  }
  return new Map([...reached].map((key) => [key, [read(key).value, read(key).seq]]));
}

function compare(world: World, seed: number): void {
  for (const player of world.clients) {
    if (!player.online) continue;
    const { client } = player;
    const held = client.replicas.get(world.home) ?? new Map();
    const holds = new Map([...held].map(([key, { value, seq }]) => [key, [value, seq]]));
    const where = `seed ${seed}, ${client.sessionId}, after ${world.done.slice(-4).join(", ")}`;
    expect(holds, where).toEqual(truth(world, player));
    const frame = client.frames(world.home).at(-1);
    if (frame !== undefined) player.cursor = { historyId: player.historyId, seq: frame.seq };
    player.confirmed = player.watches;
    const share = world.t.server
      .space(world.home)
      .demand()
      .get(`${client.identity.did} ${client.sessionId}`);
    expect(share?.keys, where).toEqual(new Set(holds.keys()));
  }
}

async function play(seed: number): Promise<{ readonly frames: number; readonly resumes: number }> {
  const random = seededRandom(seed);
  const t = createTestServer({ seed });
  const ana = await t.connected("ana");
  const home = await t.space("home", ana, { "*": "WRITE" });
  const ben = await t.connected("ben");
  const tab = await t.connected("ana", "ana2");
  const clients = [ana, ben, tab].map((client): Player => ({
    client,
    watches: [],
    confirmed: [],
    cursor: undefined,
    historyId: "",
    online: true,
  }));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;
  const world: World = { t, home, clients, pick, chance: () => random.next(), done: [] };
  for (const player of clients) {
    player.watches = someWatches(world);
    await open(world, player);
  }
  compare(world, seed);
  for (let step = 0; step < STEPS; step += 1) {
    const kind = pick(Object.keys(STEP_KINDS));
    world.done.push(kind);
    await STEP_KINDS[kind]?.(world);
    await t.run();
    compare(world, seed);
  }
  const frames = clients.reduce((sum, { client }) => sum + client.frames(home).length, 0);
  const resumes = clients.reduce((sum, { client }) => sum + resumesOf(client), 0);
  expect(clients.every(({ client }) => !JSON.stringify(client.received).includes(ACL_DOC))).toBe(
    true,
  );
  await t.stop();
  return { frames, resumes };
}

function resumesOf(client: TestClient): number {
  return client.received.filter(
    (message) => message.type === "ok" && "historyId" in message.result && message.result.resumed,
  ).length;
}

test("[ME-P15] whatever happens, a client holds what a walk of the store reaches for it, and nothing else", async () => {
  let frames = 0;
  let resumes = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    const played = await play(seed);
    frames += played.frames;
    resumes += played.resumes;
  }
  // A fuzzer that did nothing proves nothing.
  expect(frames).toBeGreaterThan(SEEDS * STEPS * 0.5);
  expect(resumes).toBeGreaterThan(0);
}, 120_000);
