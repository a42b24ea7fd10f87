import { expect, test } from "vitest";
import { TestSocketPair } from "../../src/testing/index.js";

function wired() {
  const pair = new TestSocketPair();
  const seen: string[] = [];
  pair.client.onMessage((text) => seen.push(`client ${text}`));
  pair.server.onMessage((text) => seen.push(`server ${text}`));
  pair.client.onClose((why) => seen.push(`client closed ${why.code}`));
  pair.server.onClose((why) => seen.push(`server closed ${why.code}`));
  return { pair, seen };
}

test("[PR-X5] nothing moves until it is flushed, one direction at a time, by count", () => {
  const { pair, seen } = wired();
  for (const text of ["a", "b", "c"]) pair.client.send(text);
  pair.server.send("x");
  expect([seen, pair.toServer, pair.client.bufferedBytes]).toEqual([[], ["a", "b", "c"], 3]);
  expect(pair.flushToServer(2)).toBe(2);
  expect(seen).toEqual(["server a", "server b"]);
  expect(pair.flushToClient()).toBe(1);
  expect([seen.slice(2), pair.toServer]).toEqual([["client x"], ["c"]]);
});

test("[PR-X5] a flush goes on until both directions are quiet", () => {
  const { pair } = wired();
  let left = 5;
  pair.server.onMessage(() => pair.server.send("pong"));
  pair.client.onMessage(() => (left-- > 0 ? pair.client.send("ping") : undefined));
  pair.client.send("ping");
  expect(pair.flush()).toBe(12);
  expect([pair.toServer, pair.toClient]).toEqual([[], []]);
});

test("[PR-X5] a close is delivered in its place, and a cut loses what was under way", () => {
  const closing = wired();
  closing.pair.client.send("last");
  closing.pair.client.close();
  closing.pair.client.send("too late");
  expect(closing.pair.toServer).toEqual(["last", "close 1000"]);
  closing.pair.flush();
  expect(closing.seen).toEqual(["server last", "server closed 1000"]);
  const cutting = wired();
  cutting.pair.client.send("lost");
  cutting.pair.cut();
  expect([cutting.pair.toServer, cutting.pair.toClient]).toEqual([[], []]);
  cutting.pair.flush();
  expect(cutting.seen).toEqual(["client closed 1006", "server closed 1006"]);
});

test("[PR-X5] messages wait for a handler", () => {
  const pair = new TestSocketPair();
  const seen: string[] = [];
  pair.client.send("early");
  pair.flush();
  pair.server.onMessage((text) => seen.push(text));
  pair.client.onOpen(() => seen.push("open"));
  expect(seen).toEqual(["early", "open"]);
});
