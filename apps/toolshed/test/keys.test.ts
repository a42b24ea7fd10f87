import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom } from "@tidemark/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keptIdentity } from "../src/demo/keys.js";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "toolshed-keys-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a key is made once, kept, and readable by its owner alone", () => {
  const first = keptIdentity(dir, "demo", seededRandom(1));
  expect(keptIdentity(dir, "demo", seededRandom(2)).did).toBe(first.did);
  expect(keptIdentity(dir, "other", seededRandom(2)).did).not.toBe(first.did);
  expect(statSync(join(dir, "keys", "demo.key")).mode & 0o077).toBe(0);
  expect(readdirSync(join(dir, "keys")).sort()).toEqual(["demo.key", "other.key"]);
});

test("of two processes that make a key at once, both use the one that stood first", () => {
  let rival: string | undefined;
  const interrupted: Random = {
    ...seededRandom(1),
    bytes(n) {
      // The other process comes in between the look and the write.
      rival = keptIdentity(dir, "demo", seededRandom(9)).did;
      return seededRandom(1).bytes(n);
    },
  };
  expect(keptIdentity(dir, "demo", interrupted).did).toBe(rival);
});

test("a file that holds no key is refused, and says what to do", () => {
  keptIdentity(dir, "demo", seededRandom(1));
  writeFileSync(join(dir, "keys", "demo.key"), "mud");
  expect(() => keptIdentity(dir, "demo", seededRandom(1))).toThrow(/holds no key: restore it/u);
});
