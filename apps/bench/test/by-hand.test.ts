import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { VirtualClock } from "@tidemark/protocol/testing";
import { CommitsByHand } from "../src/yardsticks/commits-by-hand.js";

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "bench-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function talk(messages: readonly object[]): Promise<readonly unknown[]> {
  const clock = new VirtualClock();
  const hand = new CommitsByHand(clock, join(folder(), "hand.sqlite"));
  const answers: unknown[] = [];
  const connection = hand.transport.connect();
  connection.onMessage((text) => answers.push(JSON.parse(text)));
  for (const message of messages) connection.send(JSON.stringify(message));
  await clock.drain();
  hand.close();
  return answers;
}

const commit = (localSeq: number, ops: readonly object[]) => ({
  type: "commit",
  req: localSeq,
  space: "did:key:z6Mk",
  commit: { localSeq, reads: [], ops },
});

test("the yardstick stores and acknowledges each commit with a seq of its own", async () => {
  const op = (id: string) => ({ id, op: "set", value: { n: 1 } });
  expect(await talk([commit(1, [op("a")]), commit(2, [op("b")])])).toEqual([
    { type: "ok", req: 1, result: { seq: 1 } },
    { type: "ok", req: 2, result: { seq: 2 } },
  ]);
});

test("the yardstick refuses what has another shape", async () => {
  expect(await talk([commit(1, [{ id: "a", op: "set", value: 1 }])])).toMatchObject([
    { type: "error" },
  ]);
});
