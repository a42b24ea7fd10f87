import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { gathered } from "../src/socket/gathered.js";

test("messages of one turn leave together, and those of the next on their own", async () => {
  const calls: string[] = [];
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  stream.cork = () => void calls.push("cork");
  stream.uncork = () => void calls.push("uncork");
  const socket = { readyState: 1, bufferedAmount: 0, send: (text: string) => calls.push(text) };
  const connection = gathered(socket as never, stream);
  connection.send("a");
  connection.send("b");
  await new Promise<void>((resolve) => process.nextTick(resolve));
  connection.send("c");
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(calls).toEqual(["cork", "a", "b", "uncork", "cork", "c", "uncork"]);
});
