import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBetterSqlite3, storeFileOf } from "@tidemark/memory-engine";
import { counter } from "@tidemark/patterns";
import {
  type EventId,
  genesisMessageToSign,
  identityFromSeed,
  nodeIdFor,
  pieceIdFor,
  seededRandom,
  SPACE_SCOPE_KEY,
  type SpaceId,
  streamIdFor,
} from "@tidemark/protocol";
import { describePiece } from "@tidemark/runtime";
import { createToolshed, type Toolshed } from "@tidemark/toolshed";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Hostile } from "./hostile.js";

const person = (seed: number) => identityFromSeed(seededRandom(seed).bytes(32));
const ana = person(1);
const [sick, sound] = [person(11), person(12)];
const idOf = (space: typeof sick) => space.did as unknown as SpaceId;
const piece = pieceIdFor({ name: "p" });
const stream = streamIdFor(piece, "increment");

let dir = "";
const running: Toolshed[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-bad-store-"));
});

afterEach(async () => {
  for (const toolshed of running.splice(0)) await toolshed.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function start(): Promise<{ readonly toolshed: Toolshed; readonly client: Hostile }> {
  const toolshed = await createToolshed({ dataDir: dir, patterns: [counter] });
  running.push(toolshed);
  return { toolshed, client: await Hostile.signedIn(toolshed.socketUrl, ana, "a1") };
}

async function stop(toolshed: Toolshed): Promise<void> {
  running.splice(running.indexOf(toolshed), 1);
  await toolshed.stop();
}

async function makeSpace(client: Hostile, key: typeof sick): Promise<void> {
  const space = idOf(key);
  const acl = { [ana.did]: "OWNER" } as never;
  const signature = key.sign(genesisMessageToSign(space, acl));
  await client.ask({ type: "space.create", space, acl, signature });
  const value = describePiece(counter, {}, piece);
  const commit = { localSeq: 1, reads: [], ops: [{ op: "set", id: piece, value }] };
  expect(await client.ask({ type: "commit", space, commit })).toMatchObject({ type: "ok" });
}

/** Opens the space, fires, and waits for the frame in which the event ends. */
async function click(client: Hostile, key: typeof sick, eventId: string, localSeq: number) {
  const space = idOf(key);
  const watches = [{ id: "w", root: { id: nodeIdFor(piece, "count") } }];
  await client.ask({ type: "space.open", space, watches });
  const from = client.received.length;
  const entry = { eventId, payload: { by: 1 } };
  const append = { localSeq, stream, entry };
  expect(await client.ask({ type: "append", space, append })).toMatchObject({ type: "ok" });
  await client.next(
    (message) =>
      message.type === "frame" &&
      message.entries.some(
        (each) => each.eventId === eventId && !("unknown" in each) && each.consequenced === true,
      ),
    from,
  );
}

const countIn = (toolshed: Toolshed, key: typeof sick) =>
  toolshed.memory.space(idOf(key)).engine.read(nodeIdFor(piece, "count"), SPACE_SCOPE_KEY).value;

test("a store file that is none is a typed error for who opens it, and the other spaces are served", async () => {
  const first = await start();
  await makeSpace(first.client, sick);
  await makeSpace(first.client, sound);
  await stop(first.toolshed);
  writeFileSync(storeFileOf(join(dir, "spaces"), idOf(sick)), "this is no store".repeat(1_000));
  const { toolshed, client } = await start();
  const space = idOf(sick);
  for (const body of [
    { type: "space.open", space, watches: [] },
    { type: "commit", space, commit: { localSeq: 1, reads: [], ops: [] } },
    {
      type: "append",
      space,
      append: { localSeq: 2, stream, entry: { eventId: "x", payload: null } },
    },
  ]) {
    expect(await client.ask(body)).toMatchObject({ type: "error", error: { code: "storage" } });
  }
  expect(toolshed.memory.stats().refused["storage"]).toBe(3);
  await click(client, sound, "e1", 3);
  expect(countIn(toolshed, sound)).toBe(1);
});

test("an entry whose stored fields cannot be read ends by itself, and those behind it run", async () => {
  const first = await start();
  await makeSpace(first.client, sick);
  await stop(first.toolshed);
  const file = storeFileOf(join(dir, "spaces"), idOf(sick));
  const spoil = openBetterSqlite3({ path: file });
  spoil.exec(`INSERT INTO stream (no, id, frontier) VALUES (77, '${stream}', 0)`);
  const row = (pos: number, id: string, payload: string, extra: string) =>
    spoil.exec(
      `INSERT INTO stream_entry (pos, stream, event_id, payload, actor, client_seq, appended_at, consequenced, extra)
       SELECT ${pos}, 77, '${id}', '${payload}', no, NULL, 0, 0, ${extra} FROM actor LIMIT 1`,
    );
  const pos = (spoil.prepare("SELECT max(pos) AS pos FROM revision").get() as { pos: number }).pos;
  row(pos + 1, "bad-payload", "{{{", "NULL");
  row(pos + 2, "bad-extra", '{"by":1}', "'not json'");
  row(pos + 3, "odd-extra", '{"by":1}', "'7'");
  row(pos + 4, "good", '{"by":1}', "NULL");
  spoil.close();
  const { toolshed, client } = await start();
  await click(client, sick, "e1", 5);
  expect(countIn(toolshed, sick)).toBe(2);
  const { entries } = toolshed.memory.space(idOf(sick)).engine;
  for (const id of ["bad-payload", "bad-extra", "odd-extra"]) {
    const [entry] = entries.byEvent(stream, id as EventId);
    expect(entry, id).toMatchObject({ consequenced: true, status: "errored" });
  }
  expect(entries.byEvent(stream, "good" as EventId)[0]?.status).toBeUndefined();
});
