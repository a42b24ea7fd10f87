import { WIRE_VERSION, type CloseReason, type Connection } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { createTestServer } from "../../src/testing/index.js";
import { event, STREAM } from "./support.js";

/** A socket whose other side sends and never reads. */
class DeafSocket implements Connection {
  bufferedBytes = 0;
  closed: string | undefined;
  #message: ((text: string) => void) | undefined;

  send(text: string): void {
    this.bufferedBytes += text.length;
  }

  close(_code?: number, reason?: string): void {
    this.closed = reason;
  }

  onMessage(fn: (text: string) => void): void {
    this.#message = fn;
  }

  onClose(_fn: (why: CloseReason) => void): void {}

  say(message: object): void {
    this.#message?.(JSON.stringify(message));
  }
}

test("[ME-N13] who asks without end and reads no answer is cut off at the bound", async () => {
  const t = createTestServer({ policy: { maxBufferedBytes: 2_000, maxFrameBytes: 2_000 } });
  const asks = [
    { type: "ping" },
    { type: "nonsense" },
    { type: "hello", version: WIRE_VERSION },
    { type: "logout", req: 1 },
  ];
  for (const [at, message] of asks.entries()) {
    const deaf = new DeafSocket();
    t.server.accept(deaf);
    for (let n = 0; n < 50_000 && deaf.closed === undefined; n += 1) {
      // A well-formed one between: the count of malformed ones in a row starts over.
      if (n % 10 === 9) deaf.say({ type: "ping" });
      deaf.say(message);
    }
    expect(deaf.closed, message.type).toBe("it does not read its answers");
    expect(deaf.bufferedBytes).toBeLessThan(5_000);
    expect(t.server.stats().push.cutOff).toBe(at + 1);
  }
  expect(t.server.stats().connections).toBe(0);
  await t.stop();
});

test("[ME-N12] thousands of subscriptions, also ended before they are set up, leave nothing", async () => {
  const t = createTestServer();
  const ana = await t.connected("ana");
  const home = await t.space("home", ana);
  const ben = await t.connected("ben");
  await ana.append(home, STREAM, { eventId: event("e1") });
  const before = t.server.stats();
  const timers = t.clock.pendingTimers();
  const watches = [
    { id: "w", pieces: true as const },
    { id: "w2", root: { id: STREAM } },
  ];
  for (let round = 0; round < 3_000; round += 1) {
    ana.post("space.open", { space: home, watches });
    if (round % 3 === 0) ana.post("watch.set", { space: home, watches });
    if (round % 5 === 0) ana.post("space.open", { space: home, watches: [] });
    ana.post("space.close", { space: home });
    if (round % 100 === 0) await t.run();
  }
  await t.run();
  const after = t.server.stats();
  expect(after).toMatchObject({ channels: 0, tracked: 0, waitingSenders: 0 });
  expect([after.connections, after.timers]).toEqual([before.connections, before.timers]);
  expect(t.clock.pendingTimers()).toBe(timers);
  expect(t.server.space(home).demand().size).toBe(0);
  await ben.disconnect();
  await t.stop();
});

test("[ME-N14] who never authenticates is closed at the deadline, and who did stays", async () => {
  const t = createTestServer({ policy: { authDeadlineMs: 5_000 } });
  const ana = await t.connected("ana");
  const stranger = new DeafSocket();
  t.server.accept(stranger);
  await t.clock.advance(4_000);
  stranger.say({ type: "hello", version: WIRE_VERSION });
  expect(stranger.closed).toBeUndefined();
  await t.clock.advance(1_000);
  expect(stranger.closed).toBe("no session within the time for one");
  await t.clock.advance(60_000);
  expect(t.server.stats().connections).toBe(1);
  await ana.disconnect();
  await t.stop();
});
