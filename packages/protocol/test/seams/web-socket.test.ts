import { expect, test } from "vitest";
import { connectionOver, type WebSocketLike, webSocketTransport } from "../../src/index.js";

/** A socket whose events the test fires itself. */
class ScriptedSocket implements WebSocketLike {
  readyState = 0;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly closed: unknown[] = [];
  readonly #listeners = new Map<string, (event: never) => void>();

  send(text: string): void {
    this.sent.push(text);
  }
  close(code?: number, reason?: string): void {
    this.closed.push([code, reason]);
  }
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }
  fire(type: string, event: unknown = {}): void {
    this.#listeners.get(type)?.(event as never);
  }
}

test("[PR-S9] what is sent before a socket opens waits, counts as buffered, and keeps its order", () => {
  const socket = new ScriptedSocket();
  const connection = webSocketTransport(() => socket).connect();
  connection.send("a");
  connection.send("bc");
  expect(socket.sent).toEqual([]);
  expect(connection.bufferedBytes).toBe(3);
  socket.fire("open");
  expect(socket.sent).toEqual(["a", "bc"]);
  expect(connection.bufferedBytes).toBe(0);
});

test("[PR-S9] messages that came before there is a handler are handed to the first one", () => {
  const socket = new ScriptedSocket();
  const connection = connectionOver(socket);
  socket.fire("message", { data: "1" });
  socket.fire("message", { data: "2" });
  const got: string[] = [];
  connection.onMessage((text) => got.push(text));
  socket.fire("message", { data: "3" });
  expect(got).toEqual(["1", "2", "3"]);
});

test("[PR-S9] a connection that was closed here is inert, whatever its socket still says", () => {
  const socket = new ScriptedSocket();
  const connection = connectionOver(socket);
  const heard: unknown[] = [];
  connection.onMessage((text) => heard.push(text));
  connection.onClose((why) => heard.push(why));
  connection.close(4001, "superseded");
  socket.fire("message", { data: "late" });
  socket.fire("error");
  socket.fire("close", { code: 1006, reason: "" });
  connection.send("late");
  connection.close();
  expect(heard).toEqual([]);
  expect(socket.sent).toEqual([]);
  expect(socket.closed).toEqual([[4001, "superseded"]]);
});

test("[PR-S9] the end of a socket is told once, also to a handler that came after it", () => {
  const socket = new ScriptedSocket();
  const connection = connectionOver(socket);
  socket.fire("close", { code: 1006, reason: "gone" });
  const heard: unknown[] = [];
  connection.onClose((why) => heard.push(why));
  socket.fire("close", { code: 1006, reason: "again" });
  expect(heard).toEqual([{ code: 1006, reason: "gone" }]);
});

test("[PR-S9] a binary message ends the connection and reaches nobody", () => {
  const socket = new ScriptedSocket();
  const connection = connectionOver(socket);
  const heard: unknown[] = [];
  connection.onMessage((text) => heard.push(text));
  socket.fire("message", { data: new Uint8Array([1]) });
  expect(heard).toEqual([]);
  expect(socket.closed).toEqual([[1003, "text messages only"]]);
});
