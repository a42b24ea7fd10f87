import type { ClientConnection, FrameMessage, Transport } from "@tidemark/protocol";
import { expect, test } from "vitest";
import type { Client, Space } from "@tidemark/client";
import { DEFAULT_POLICY } from "../../src/options.js";
import { counter, record, set, World } from "../support/world.js";
import type { Counter } from "../support/world.js";

interface Invited {
  readonly world: World;
  /** The owner's. */
  readonly space: Space;
  readonly ben: Client;
  readonly his: Space;
  readonly piece: Counter;
  /** How often Ben has asked for the space. */
  asked(): number;
  /** Ana replaces the list: herself, and these. */
  grant(list: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Ana's space, which Ben opens and may not read. */
async function setup(list: Readonly<Record<string, string>> = {}): Promise<Invited> {
  const world = new World();
  const ana = world.client("ana", "s1");
  await world.found(ana, list);
  const { space } = world.open(ana);
  let asked = 0;
  const ben = world.client("ben", "t1", {
    transport: counted(world.server.loopback.transport, (text) => {
      if (text.includes(`"space.open"`)) asked += 1;
    }),
  });
  await world.run();
  const { space: his, piece } = world.open(ben);
  await world.run();
  const grant = async (more: Readonly<Record<string, unknown>>): Promise<void> => {
    const set = space.setAcl({ [ana.whoami.principal]: "OWNER", ...more } as never);
    await world.run();
    await set;
  };
  return { world, space, ben, his, piece, asked: () => asked, grant };
}

function counted(transport: Transport, onSent: (text: string) => void): Transport {
  return {
    connect: (): ClientConnection => {
      const connection = transport.connect();
      const send = connection.send.bind(connection);
      connection.send = (text) => {
        onSent(text);
        send(text);
      };
      return connection;
    },
  };
}

const { capMs } = DEFAULT_POLICY.denied;

test("[CL-D22] who is let in after the space was denied sees it and learns the end of the event, on the same connection", async () => {
  const { world, ben, his, piece, grant } = await setup();
  const count = record(piece.get("count"));
  let ready = false;
  void his.ready.then(() => (ready = true));
  expect(his.state.value.state).toBe("denied");
  await grant({ [ben.whoami.principal]: "WRITE" });
  await world.clock.advance(capMs);
  expect([his.state.value, ready]).toEqual([{ state: "open", level: "WRITE" }, true]);
  const fired = piece.fire("bump");
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(1) } });
  expect([fired.outcome, count.at(-1)]).toEqual([{ kind: "consequenced" }, 1]);
  expect(world.server.server.stats().connections).toBe(2);
});

test("[CL-D22] an own append that is accepted asks at once, and the end of the event is learned", async () => {
  const { world, ben, his, piece, grant } = await setup();
  await grant({ [ben.whoami.principal]: "WRITE" });
  const fired = piece.fire("bump");
  await world.run();
  expect(his.state.value).toEqual({ state: "open", level: "WRITE" });
  await world.serve({ events: [fired], writes: { count: set(1) } });
  expect(fired.outcome).toEqual({ kind: "consequenced" });
});

test("[CL-D22] an own commit that is accepted asks at once", async () => {
  const { world, ben, his, grant } = await setup();
  await grant({ [ben.whoami.principal]: "WRITE" });
  const { piece, created } = his.create(counter);
  await world.run();
  await created;
  expect(his.state.value).toEqual({ state: "open", level: "WRITE" });
  expect(piece.get("count").value).toBe(0);
});

test("[CL-D22] reading that was taken away and given back comes back by itself", async () => {
  const { world, ben, his, piece, space, grant } = await setup({ "*": "READ" });
  expect(his.state.value.state).toBe("open");
  await grant({});
  expect(his.state.value.state).toBe("denied");
  await grant({ [ben.whoami.principal]: "READ" });
  void space.piece(world.piece).set("count", 7);
  await world.clock.advance(capMs);
  expect(his.state.value).toEqual({ state: "open", level: "READ" });
  expect(piece.get("count").value).toBe(7);
});

test("[CL-D20] a denied space is asked for ever more seldom, says the same all the while, and is told nothing", async () => {
  const { world, ben, his, asked } = await setup();
  const states: string[] = [];
  his.state.subscribe(({ state }) => states.push(state));
  const frames: FrameMessage[] = [];
  ben.onFrame((frame) => frames.push(frame));
  const times: number[] = [];
  for (let at = 0; at < 600_000; at += 250) {
    const before = asked();
    await world.clock.advance(250);
    if (asked() > before) times.push(at);
  }
  const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
  // Half a ceiling of 30 s is the least at rest, and a quarter of a second is what the test sees.
  expect(gaps.slice(5).every((gap) => gap >= capMs / 2 - 250 && gap <= capMs + 250)).toBe(true);
  expect(new Set(gaps.slice(5)).size).toBeGreaterThan(3);
  expect(times[0]).toBeLessThanOrEqual(1000);
  expect([states, frames]).toEqual([["denied"], []]);
});

test("[CL-D20] who may append and not read does not ask with each append", async () => {
  const { world, his, piece, grant, asked } = await setup();
  await grant({ streams: { [world.stream("inc")]: { "*": "APPEND" } } });
  const before = asked();
  const fired = Array.from({ length: 200 }, () => piece.fire("inc"));
  await world.clock.advance(10_000);
  await Promise.all(fired.map(({ appended }) => appended));
  const { burst, ratePerSecond } = DEFAULT_POLICY.denied.early;
  expect(asked() - before).toBeLessThanOrEqual(burst + 10 * ratePerSecond + 5);
  expect(his.state.value.state).toBe("denied");
});

test("[CL-D23] who may append and not read learns how its events end, on the space's own word, and not what they returned", async () => {
  const { world, his, piece, grant } = await setup();
  await grant({ streams: { [world.stream("inc")]: { "*": "APPEND" } } });
  let ready = false;
  void his.ready.then(() => (ready = true));
  const fired = piece.fire("inc");
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(1) } });
  expect(fired.outcome).toEqual({ kind: "consequenced" });
  await expect(fired.result()).rejects.toMatchObject({ code: "unauthorized" });
  const failed = piece.fire("inc");
  await world.run();
  await world.serve({ events: [failed], status: "errored", error: "closed" });
  expect(failed.outcome).toMatchObject({ kind: "errored", reason: "closed" });
  expect([his.state.value.state, ready, piece.get("count").value]).toEqual([
    "denied",
    false,
    undefined,
  ]);
  expect([his.outstanding, his.queued, world.errors]).toEqual([0, 0, []]);
});

test("[CL-D23] an end that came while its sender was away is learned when it is back", async () => {
  const { world, ben, piece, grant } = await setup();
  await grant({ streams: { [world.stream("inc")]: { "*": "APPEND" } } });
  const fired = piece.fire("inc");
  await world.run();
  ben.disconnect();
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(1) } });
  expect(fired.outcome).toBeUndefined();
  ben.reconnect();
  await world.run();
  expect(fired.outcome).toEqual({ kind: "consequenced" });
});

test("[CL-D23] a sender that is let in shows the space and reads the results", async () => {
  const { world, ben, his, piece, grant } = await setup();
  await grant({ streams: { [world.stream("inc")]: { "*": "APPEND" } } });
  const fired = piece.fire("inc");
  await world.run();
  await world.serve({ events: [fired], writes: { count: set(1) } });
  await grant({
    [ben.whoami.principal]: "READ",
    streams: { [world.stream("inc")]: { "*": "APPEND" } },
  });
  await world.clock.advance(capMs);
  await his.ready;
  expect(piece.get("count").value).toBe(1);
  const result = fired.result();
  await world.run();
  expect(await result).toEqual({});
});

test("[CL-N5] a client that stops leaves no question about a denied space behind", async () => {
  const { world, ben, asked } = await setup();
  ben.drop();
  const before = asked();
  await world.clock.advance(600_000);
  expect(asked()).toBe(before);
});
