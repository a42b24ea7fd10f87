import { expect, test } from "vitest";
import { docId, identityFromSeed, toLinkValue, type JsonValue } from "@tidemark/protocol";
import { z } from "zod";
import {
  abort,
  action,
  cell,
  cellAt,
  grantSpaceAccess,
  handler,
  type HandlerContext,
  pattern,
  revokeSpaceAccess,
} from "../src/index.js";
import { createTestSpace } from "../src/testing/index.js";
import { idOf } from "./kit.js";

const BEN = identityFromSeed(new Uint8Array(32).fill(9)).did;

const door = pattern({
  id: "door",
  version: "1",
  build: () => {
    const said = cell("said", z.array(z.string()), { default: [] });
    const open = handler("open", z.object({ who: z.unknown(), level: z.unknown() }), (asked) => {
      said.append("open");
      grantSpaceAccess(asked.who as never, asked.level as never);
      revokeSpaceAccess("*");
    });
    const shut = action("shut", async (ctx) => {
      await Promise.resolve();
      ctx.cell(said).append("shut");
      ctx.revokeSpaceAccess(BEN);
      ctx.grantSpaceAccess("*", "READ");
    });
    const waver = action("waver", () => {
      grantSpaceAccess(BEN, "OWNER");
      abort("no");
    });
    const lock = action("lock", () => {
      cellAt({ id: docId("sys:acl") }).set({ "*": "OWNER" });
    });
    return { said, open, shut, waver, lock };
  },
});

function started() {
  const space = createTestSpace();
  const piece = space.start(door);
  const fire = (name: string, payload?: JsonValue) => space.fire(idOf(piece, name), payload);
  const asked = () => space.sealed.filter(({ context }) => context.kind === "event-handler");
  return { space, piece, fire, asked };
}

test("[RT-H13] a run asks for its changes in turn, and writes none of them", async () => {
  const { fire, asked } = started();
  expect(await fire("open", { who: BEN, level: "WRITE" })).toMatchObject({ kind: "sealed" });
  const [run] = asked();
  expect(run?.accessChanges).toEqual([
    { kind: "grant", grantee: BEN, level: "WRITE" },
    { kind: "revoke", grantee: "*" },
  ]);
  expect(run?.writes.filter(({ key }) => key.includes("sys:"))).toEqual([]);
});

test("[RT-H13] after an await a run asks through its context", async () => {
  const { fire, asked } = started();
  expect(await fire("shut")).toMatchObject({ kind: "sealed" });
  expect(asked()[0]?.accessChanges).toEqual([
    { kind: "revoke", grantee: BEN },
    { kind: "grant", grantee: "*", level: "READ" },
  ]);
});

test("[RT-H13] an aborted run asks for nothing, and one that asks for nothing says nothing of it", async () => {
  const { space, fire, asked } = started();
  expect(await fire("waver")).toMatchObject({ kind: "errored" });
  expect(asked()).toEqual([]);
  await fire("lock");
  expect(space.sealed.at(-1)?.accessChanges).toBeUndefined();
});

test("[RT-H13] an echo asks as the served run does: its destination leads nowhere", async () => {
  const space = createTestSpace({ posture: "speculating" });
  const piece = space.start(door);
  await space.fire(idOf(piece, "open"), { who: BEN, level: "READ" });
  expect(space.sealed.at(-1)?.accessChanges).toHaveLength(2);
});

test.each<[string, JsonValue]>([
  ["a name", { who: "ben", level: "READ" }],
  ["a link", { who: toLinkValue({ id: docId("node:x") }), level: "READ" }],
  ["no level", { who: BEN, level: "APPEND" }],
  ["the streams' key", { who: "streams", level: "READ" }],
])("[RT-H14] %s is the run's error, and nothing of the run lands", async (_what, payload) => {
  const { fire, asked } = started();
  expect(await fire("open", payload)).toMatchObject({
    kind: "errored",
    error: { code: "protocol" },
  });
  expect(asked()).toEqual([]);
});

test("[RT-F8] a context kept after its run asks for nothing", async () => {
  let kept: HandlerContext | undefined;
  const space = createTestSpace();
  const piece = space.start(
    pattern({
      id: "keeper",
      version: "1",
      build: () => ({ go: action("go", (ctx) => void (kept = ctx)) }),
    }),
  );
  await space.fire(idOf(piece, "go"));
  expect(() => kept?.grantSpaceAccess(BEN, "READ")).toThrow(
    expect.objectContaining({ code: "frame" }) as Error,
  );
});
