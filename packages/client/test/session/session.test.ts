import { AuthorizationError, ConnectionError, seededRandom, toWireError } from "@tidemark/protocol";
import type { AuthMessage, FrameMessage, SessionId, SpaceId } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { Session } from "../../src/session/session.js";
import { DEFAULT_POLICY } from "../../src/options.js";
import { ALICE, ScriptedServer } from "./scripted-server.js";

interface World {
  readonly clock: VirtualClock;
  readonly server: ScriptedServer;
  readonly session: Session;
  readonly log: string[];
}

function setup(sessionId?: string): World {
  const clock = new VirtualClock();
  const server = new ScriptedServer();
  const log: string[] = [];
  const session = new Session({
    transport: server.transport,
    identity: ALICE,
    sessionId: sessionId as SessionId | undefined,
    clock,
    random: seededRandom(3),
    backoff: DEFAULT_POLICY.backoff,
    link: DEFAULT_POLICY.link,
    listener: {
      onOnline: () => log.push("online"),
      onOffline: () => log.push("offline"),
      onFrame: (frame) => log.push(`frame ${frame.seq}`),
      onRevoked: () => log.push("revoked"),
      onRenewed: () => log.push("renewed"),
    },
  });
  return { clock, server, session, log };
}

const frame = (seq: number): FrameMessage => ({
  type: "frame",
  space: ALICE.did as unknown as SpaceId,
  seq: seq as never,
  watermark: 0 as never,
  rows: [],
  gone: [],
  entries: [],
  frontiers: [],
});

const auths = ({ server }: World): AuthMessage[] =>
  server.received.flat().filter((message): message is AuthMessage => message.type === "auth");

test("[CL-S1] a session authenticates by signing the server's challenge, and is online only then", () => {
  const world = setup("tab-1");
  expect(world.session.status.value.state).toBe("offline");
  world.session.connect();
  expect(world.session.status.value.state).toBe("connecting");
  world.server.flush();
  expect(world.session.status.value).toEqual({
    state: "online",
    principal: ALICE.did,
    sessionId: "tab-1",
  });
  expect(auths(world)).toHaveLength(1);
  expect(world.log).toEqual(["online"]);
});

test("[CL-S2] a reconnect keeps the session id and the nonce of its open, and numbers go on", async () => {
  const world = setup("tab-1");
  world.session.connect();
  world.server.flush();
  const first = world.session.nextLocalSeq();
  world.server.pairs[0]?.cut();
  expect(world.session.status.value.state).toBe("waiting");
  await world.clock.advance(4000);
  world.server.flush();
  expect(world.log).toEqual(["online", "offline", "online"]);
  const [a, b] = auths(world);
  expect([b?.sessionId, b?.openNonce]).toEqual([a?.sessionId, a?.openNonce]);
  expect(world.session.nextLocalSeq()).toBe(first + 1);
});

test("[CL-S3] accept then close keeps the attempts growing, since opening a socket is no success", async () => {
  const world = setup();
  const delays: number[] = [];
  world.session.status.subscribe(({ retryInMs }) => {
    if (retryInMs !== undefined) delays.push(retryInMs);
  });
  world.session.connect();
  for (let n = 0; n < 8; n += 1) {
    world.server.pairs.at(-1)?.server.close();
    world.server.flush();
    await world.clock.advance(4000);
  }
  expect(delays.slice(0, 4)).toEqual(delays.slice(0, 4).sort((a, b) => a - b));
  expect(Math.min(...delays.slice(5))).toBeGreaterThanOrEqual(2000);
});

test("[CL-S4] attempts are forgotten after authentication and a minimum lifetime, not before", async () => {
  const world = setup();
  const delayAfterLiving = async (ms: number): Promise<number> => {
    world.server.flush();
    expect(world.session.online).toBe(true);
    await world.clock.advance(ms);
    world.server.pairs.at(-1)?.cut();
    const delay = world.session.status.value.retryInMs ?? 0;
    await world.clock.advance(delay + 1);
    return delay;
  };
  world.session.connect();
  for (let n = 0; n < 6; n += 1) await delayAfterLiving(100);
  expect(await delayAfterLiving(100)).toBeGreaterThan(1000);
  expect(await delayAfterLiving(DEFAULT_POLICY.backoff.minLifetimeMs)).toBeLessThanOrEqual(250);
});

test("[CL-S5] a refusal that would come again stops the session and shows", async () => {
  const world = setup();
  const error = toWireError(new AuthorizationError("not here", { permanentEvidence: true }));
  world.server.onAuth = (server, nth, req) => server.say(nth, { type: "error", req, error });
  world.session.connect();
  world.server.flush();
  expect(world.session.status.value).toMatchObject({ state: "stopped", reason: "not here" });
  await world.clock.advance(600_000);
  expect(world.server.pairs).toHaveLength(1);
});

test("[CL-S6] a superseded session goes on under an id and a nonce of its own", async () => {
  const world = setup("tab-1");
  world.session.connect();
  world.server.flush();
  world.server.say(0, { type: "superseded" });
  world.server.flush();
  expect(world.log).toEqual(["online", "offline", "renewed"]);
  await world.clock.advance(1000);
  world.server.flush();
  const [a, b] = auths(world);
  expect(a?.sessionId).toBe("tab-1");
  expect(b?.sessionId).not.toBe("tab-1");
  expect(b?.openNonce).not.toBe(a?.openNonce);
  expect(world.session.status.value).toMatchObject({ state: "online", sessionId: b?.sessionId });
});

test("[CL-S7] late messages and closes of an old connection reach nobody", async () => {
  const world = setup();
  world.session.connect();
  world.server.flush();
  world.session.disconnect();
  world.session.connect();
  world.server.say(0, frame(9));
  world.server.pairs[0]?.server.close();
  world.server.flush();
  world.server.say(1, frame(10));
  world.server.flush();
  expect(world.log).toEqual(["online", "offline", "online", "frame 10"]);
  expect(world.session.online).toBe(true);
});

test("[CL-S8] what was asked and not answered when a connection ends is rejected as unknown", async () => {
  const world = setup();
  world.session.connect();
  world.server.flush();
  const asked = world.session.request({ type: "logout" });
  world.server.pairs[0]?.cut();
  await expect(asked).rejects.toBeInstanceOf(ConnectionError);
  await expect(world.session.request({ type: "logout" })).rejects.toBeInstanceOf(ConnectionError);
});

test("[CL-S9] offline stays offline until told otherwise, and leaves no timer behind", async () => {
  const world = setup();
  world.session.connect();
  world.server.flush();
  world.session.disconnect();
  await world.clock.advance(600_000);
  expect(world.server.pairs).toHaveLength(1);
  expect(world.clock.pendingTimers()).toBe(0);
  world.session.stop("done");
  world.session.connect();
  expect(world.server.pairs).toHaveLength(1);
});

test("[CL-S10] a peer that vanished without a word is noticed", async () => {
  const world = setup();
  world.session.connect();
  world.server.flush();
  await world.clock.advance(DEFAULT_POLICY.link.pingMs + DEFAULT_POLICY.link.pongTimeoutMs);
  expect(world.log).toEqual(["online", "offline"]);
});

test("[CL-S11] an unreadable message ends the connection, not the client", async () => {
  const world = setup();
  world.session.connect();
  world.server.flush();
  world.server.pairs[0]?.server.send("{not json");
  world.server.flush();
  expect(world.session.status.value).toMatchObject({ state: "waiting" });
  expect(world.session.status.value.reason).toContain("unreadable message");
});
