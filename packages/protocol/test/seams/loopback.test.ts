import { describe, expect, test } from "vitest";
import { type CloseReason, type Connection, createLoopback } from "../../src/index.js";
import { describeTransport, VirtualClock } from "../../src/testing/index.js";

describe("[PR-T1] [PR-T2] [PR-T3] [PR-T4] [PR-T5] the loopback is a transport", () => {
  describeTransport({
    test,
    expect,
    create: () => {
      const clock = new VirtualClock();
      const loopback = createLoopback(clock);
      return {
        transport: loopback.transport,
        onConnection: (fn) => loopback.onConnection(fn),
        settle: () => clock.drain(),
      };
    },
  });
});

function listen() {
  const clock = new VirtualClock();
  const loopback = createLoopback(clock);
  const servers: Connection[] = [];
  const heard: string[] = [];
  const ended: CloseReason[] = [];
  loopback.onConnection((connection) => {
    servers.push(connection);
    connection.onMessage((text) => heard.push(`server ${text}`));
    connection.onClose((why) => ended.push(why));
  });
  const dial = () => {
    const client = loopback.transport.connect();
    client.onMessage((text) => heard.push(`client ${text}`));
    client.onClose((why) => heard.push(`client closed ${why.code} ${why.reason}`));
    return client;
  };
  return { clock, loopback, servers, heard, ended, dial };
}

test("[PR-S7] a server that dies is told nothing more, and what it had sent arrives first", async () => {
  const { clock, loopback, servers, heard, ended, dial } = listen();
  const client = dial();
  await clock.drain();
  servers[0]?.send("last words");
  client.send("unheard");
  loopback.drop();
  client.send("unheard too");
  expect(loopback.open).toBe(0);
  await clock.drain();
  expect(heard).toEqual(["client last words", "client closed 1006 connection lost"]);
  expect(ended).toEqual([]);
});

test("[PR-S7] connections that come after the death of a process go to the next one", async () => {
  const { clock, loopback, servers, dial } = listen();
  dial();
  await clock.drain();
  loopback.drop();
  dial();
  await clock.drain();
  expect(servers.length).toBe(2);
  expect(loopback.open).toBe(1);
});

test("[PR-S8] dialling where nobody listens ends with a close and without an opening", async () => {
  const { clock, loopback, heard, dial } = listen();
  loopback.onConnection(undefined);
  const client = dial();
  client.onOpen(() => heard.push("opened"));
  await clock.drain();
  expect(heard).toEqual(["client closed 1006 nobody is listening"]);
});

test("[PR-S8] a client that hangs up before it was accepted is never accepted", async () => {
  const { clock, servers, dial } = listen();
  dial().close();
  await clock.drain();
  expect(servers).toEqual([]);
});

test("a message waits for a handler, and counts as buffered until it is delivered", async () => {
  const clock = new VirtualClock();
  const loopback = createLoopback(clock);
  const heard: string[] = [];
  let server: Connection | undefined;
  loopback.onConnection((connection) => void (server = connection));
  const client = loopback.transport.connect();
  client.send("four");
  expect(client.bufferedBytes).toBe(4);
  await clock.drain();
  expect(client.bufferedBytes).toBe(0);
  server?.onMessage((text) => heard.push(text));
  expect(heard).toEqual(["four"]);
});
