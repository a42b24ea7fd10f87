import type { ClientConnection, CloseReason, Connection, Transport } from "../seams/transport.js";
import type { TestApi } from "./test-api.js";

/** One transport with somebody listening, for one test. */
export interface TransportHarness {
  readonly transport: Transport;
  /** Sets who takes the server's side of new connections. */
  onConnection(fn: (connection: Connection) => void): void;
  /** Resolves once everything under way has been delivered. */
  settle(): Promise<void>;
  dispose?(): void | Promise<void>;
}

/** A suite's parameters. */
export interface TransportSuite extends TestApi {
  /** Makes a fresh harness. */
  readonly create: () => TransportHarness | Promise<TransportHarness>;
}

interface Talk {
  readonly harness: TransportHarness;
  readonly client: ClientConnection;
  readonly server: Connection;
  readonly heard: { client: string[]; server: string[] };
  readonly ended: { client: CloseReason[]; server: CloseReason[] };
}

async function talk(harness: TransportHarness): Promise<Talk> {
  const heard: Talk["heard"] = { client: [], server: [] };
  const ended: Talk["ended"] = { client: [], server: [] };
  const accepted: Connection[] = [];
  harness.onConnection((connection) => {
    accepted.push(connection);
    connection.onMessage((text) => heard.server.push(text));
    connection.onClose((why) => ended.server.push(why));
  });
  const client = harness.transport.connect();
  client.onMessage((text) => heard.client.push(text));
  client.onClose((why) => ended.client.push(why));
  await harness.settle();
  const [server] = accepted;
  if (server === undefined) throw new Error("the transport accepted no connection");
  return { harness, client, server, heard, ended };
}

const NUMBERED = Array.from({ length: 50 }, (_, at) => `message ${at} é 🙂 "${"x".repeat(at)}"`);

type Case = readonly [
  title: string,
  run: (harness: TransportHarness, api: TestApi) => Promise<void>,
];

const CASES: readonly Case[] = [
  [
    "[PR-T1] messages arrive whole and in order, both ways",
    async (harness, { expect }) => {
      const { client, server, heard } = await talk(harness);
      for (const text of NUMBERED) client.send(text);
      for (const text of NUMBERED) server.send(text);
      await harness.settle();
      expect(heard.server).toEqual(NUMBERED);
      expect(heard.client).toEqual(NUMBERED);
      expect(client.bufferedBytes).toBe(0);
      client.close();
      await harness.settle();
    },
  ],
  [
    "[PR-T1] what is sent before the opening arrives after it, in order",
    async (harness, { expect }) => {
      const heard: string[] = [];
      harness.onConnection((connection) => connection.onMessage((text) => heard.push(text)));
      const client = harness.transport.connect();
      client.onOpen(() => client.send("third"));
      client.send("first");
      client.send("second");
      await harness.settle();
      expect(heard.slice(0, 2)).toEqual(["first", "second"]);
      expect(heard.length).toBe(3);
      client.close();
      await harness.settle();
    },
  ],
  [
    "[PR-T2] connect never calls back before it returns",
    async (harness, { expect }) => {
      const calls: string[] = [];
      harness.onConnection(() => calls.push("accepted"));
      const client = harness.transport.connect();
      client.onOpen(() => calls.push("opened"));
      expect(calls).toEqual([]);
      await harness.settle();
      expect([...calls].sort()).toEqual(["accepted", "opened"]);
      client.close();
      await harness.settle();
    },
  ],
  [
    "[PR-T3] a close arrives after the messages before it, once, with its code and reason",
    async (harness, { expect }) => {
      const { server, heard, ended } = await talk(harness);
      for (const text of NUMBERED) server.send(text);
      server.close(4000, "enough");
      server.close(4001, "again");
      await harness.settle();
      expect(heard.client).toEqual(NUMBERED);
      expect(ended.client).toEqual([{ code: 4000, reason: "enough" }]);
      expect(ended.server).toEqual([]);
    },
  ],
  [
    "[PR-T4] a closed side is inert: it hears nothing more and sends nothing more",
    async (harness, { expect }) => {
      const { client, server, heard, ended } = await talk(harness);
      server.send("late");
      client.close(1000, "bye");
      client.send("after the end");
      await harness.settle();
      server.send("to nobody");
      await harness.settle();
      expect(heard).toEqual({ client: [], server: [] });
      expect(ended.client).toEqual([]);
      expect(ended.server.map((why) => why.code)).toEqual([1000]);
    },
  ],
  [
    "[PR-T5] connections of one transport do not hear each other",
    async (harness, { expect }) => {
      const first = await talk(harness);
      const second = await talk(harness);
      first.client.send("one");
      second.client.send("two");
      first.client.close();
      await harness.settle();
      second.server.send("still here");
      await harness.settle();
      expect(first.heard.server).toEqual(["one"]);
      expect(second.heard).toEqual({ client: ["still here"], server: ["two"] });
      second.client.close();
      await harness.settle();
    },
  ],
];

/** Registers the contract of a {@link Transport}: what every implementation must do. */
export function describeTransport(suite: TransportSuite): void {
  for (const [title, run] of CASES) {
    suite.test(title, async () => {
      const harness = await suite.create();
      try {
        await run(harness, suite);
      } finally {
        await harness.dispose?.();
      }
    });
  }
}
