import type { Random } from "@tidemark/protocol";

const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1e21,
  0.5,
  "",
  "\u0000",
  "__proto__",
  "sys:acl",
  "user:x",
  "x".repeat(2_000),
  [],
  {},
  [[[[]]]],
  { "/": { "link@1": { id: "node:x" } } },
];

/** The text of a message with one thing wrong in it: a value, a key, an end, a byte. */
export function bend(text: string, random: Random): string {
  const below = (bound: number): number => Math.floor(random.next() * bound);
  const way = below(4);
  if (way === 0) return text.slice(0, below(text.length));
  if (way === 1) {
    const at = below(text.length);
    return text.slice(0, at) + String.fromCharCode(32 + below(90)) + text.slice(at + 1);
  }
  // A key of the message or of what is in it loses its value, or has an odd one.
  let left = below(30);
  return JSON.stringify(JSON.parse(text), (key: string, value: unknown) => {
    left -= 1;
    if (left !== 0 || key === "") return value;
    return way === 2 ? undefined : ODD[below(ODD.length)];
  });
}
