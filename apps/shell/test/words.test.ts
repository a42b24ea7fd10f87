import { AuthorizationError, EventDeliveryError, StorageError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { connectionBadge } from "../src/connection/connection-words.js";
import { outcomeLine } from "../src/outcome/outcome-words.js";
import { settledBadge } from "../src/settled/settled-words.js";
import { spaceTrouble } from "../src/words/error-words.js";

const who = { principal: "did:key:z6Mk" as never, sessionId: "s" as never };

test.each([
  ["online", 0, 0, "Online"],
  ["connecting", 0, 2, "Connecting… · 2 kept here"],
  ["waiting", 1200, 0, "Offline · trying again in 2 s"],
  ["waiting", 0, 1, "Offline · trying again now · 1 kept here"],
  ["offline", 0, 0, "Offline"],
  ["stopped", 0, 0, "Signed out"],
] as const)("a connection that is %s is said so", (state, inMs, queued, text) => {
  expect(connectionBadge({ state, ...who }, inMs, queued).text).toBe(text);
});

test("a space is settled, working, or so many wait", () => {
  const rest = { online: true, queued: 0, outstanding: 0, busy: false };
  expect(settledBadge(rest).text).toBe("Settled");
  expect(settledBadge({ ...rest, busy: true }).text).toBe("Working…");
  expect(settledBadge({ ...rest, outstanding: 1 }).text).toBe("Working…");
  expect(settledBadge({ ...rest, outstanding: 3, queued: 1 }).text).toBe("3 waiting");
  expect(settledBadge({ ...rest, online: false, queued: 1 }).text).toBe("1 waiting for the server");
  expect(settledBadge({ ...rest, online: false }).text).toBe("Settled");
});

test("every end of an event has words", () => {
  const failed = (kind: EventDeliveryError["kind"], reason: string) =>
    outcomeLine({ kind, reason, error: new EventDeliveryError(reason, { kind, reason }) }, true);
  expect(failed("errored", "no such dish")).toEqual({
    tone: "bad",
    text: "That did not work: no such dish",
  });
  expect(failed("refused", "not yours").text).toBe("That is not allowed: not yours");
  expect(failed("dropped", "x").text).toContain("too late");
  expect(failed("needs-attention", "x").text).toContain("stuck");
  expect(failed("append-refused", "did:key:z6MkAbc may not append to stream:x").text).toBe(
    "The server did not take it: you may look at this space, but not change it.",
  );
  expect(outcomeLine({ kind: "consequenced" }, true).text).toBe("Done.");
  expect(outcomeLine({ kind: "sending" }, false).text).toContain("Kept here");
});

test("a space that does not open says why, and one on its way says nothing", () => {
  const denied = new AuthorizationError("no", { retriable: true });
  expect(spaceTrouble({ state: "opening" }, false)).toBeUndefined();
  expect(spaceTrouble({ state: "offline" }, true)).toBeUndefined();
  expect(spaceTrouble({ state: "opening", error: denied }, false)?.title).toContain(
    "Nothing to see",
  );
  expect(spaceTrouble({ state: "denied", error: denied }, true)?.title).toContain("no longer");
  const broken = new StorageError("corrupt", { kind: "corrupt" });
  expect(spaceTrouble({ state: "opening", error: broken }, false)?.title).toContain(
    "cannot be read",
  );
});
