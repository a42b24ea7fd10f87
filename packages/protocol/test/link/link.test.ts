import { describe, expect, test } from "vitest";
import {
  asLink,
  docId,
  identityFromSeed,
  isLink,
  type Link,
  toLinkValue,
} from "../../src/index.js";
import type { JsonValue } from "../../src/index.js";

const space = identityFromSeed(new Uint8Array(32).fill(3)).did as never;
const id = docId("node:x");

describe("links", () => {
  test("[PR-V13] a link survives its stored form", () => {
    const links: Link[] = [
      { id },
      { id, path: ["a", 0] },
      { id, space, scope: "user" },
      { id, path: ["__proto__"], space, scope: "session" },
    ];
    for (const link of links) {
      const stored = JSON.parse(JSON.stringify(toLinkValue(link))) as JsonValue;
      expect(asLink(stored)).toEqual(link);
      expect(isLink(stored)).toBe(true);
    }
    expect(toLinkValue({ id, path: [] })).toEqual({ "/": { "link@1": { id } } });
  });

  test("[PR-V13] anything else, however like a link, is plain data", () => {
    const body = { id };
    const others: unknown[] = [
      undefined,
      null,
      "node:x",
      [],
      {},
      { "/": body },
      { "/": { "link@1": body }, note: 1 },
      { "/": { "link@1": body, "link@2": body } },
      { "/": { "link@1": {} } },
      { "/": { "link@1": [] } },
      { "/": { "link@1": { id: "a b" } } },
      { "/": { "link@1": { id, path: "a" } } },
      { "/": { "link@1": { id, path: [-1] } } },
      { "/": { "link@1": { id, path: [{}] } } },
      { "/": { "link@1": { id, space: "nowhere" } } },
      { "/": { "link@1": { id, scope: "toString" } } },
      { "/": { "link@1": { id, extra: 1 } } },
      JSON.parse('{"/":{"link@1":{"__proto__":{"id":"node:x"}}}}'),
    ];
    for (const value of others) expect(asLink(value as JsonValue)).toBeUndefined();
  });
});
