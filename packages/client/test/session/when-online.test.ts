import { AuthorizationError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { Observable } from "../../src/session/observable.js";
import type { ConnectionState, ConnectionStatus } from "../../src/session/status.js";
import { whenOnline } from "../../src/session/when-online.js";
import { ALICE } from "./scripted-server.js";

const status = (
  state: ConnectionState,
  more: Partial<ConnectionStatus> = {},
): ConnectionStatus => ({
  state,
  principal: ALICE.did,
  sessionId: "tab" as never,
  ...more,
});

test("[CL-S12] waiting for a connection ends with the one that is on its way, over attempts that fail", async () => {
  const live = new Observable(status("connecting"));
  const log: string[] = [];
  const online = whenOnline(live).then(() => log.push("online"));
  live.set(status("waiting", { retryInMs: 10 }));
  await Promise.resolve();
  expect(log).toEqual([]);
  live.set(status("connecting"));
  live.set(status("online"));
  await online;
  expect(log).toEqual(["online"]);
});

test("[CL-S12] a client that is online waits for nothing", async () => {
  await expect(whenOnline(new Observable(status("online")))).resolves.toBeUndefined();
});

test("[CL-S12] waiting is refused where no attempt is under way or planned", async () => {
  await expect(whenOnline(new Observable(status("offline")))).rejects.toMatchObject({
    code: "connection",
  });
  const live = new Observable(status("connecting"));
  const waiting = whenOnline(live);
  const error = new AuthorizationError("no", {});
  live.set(status("stopped", { error }));
  await expect(waiting).rejects.toBe(error);
  // A later word changes nothing, and nobody listens any more.
  live.set(status("online"));
});
