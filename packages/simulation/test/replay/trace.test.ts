import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { applyPatch } from "@tidemark/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { syntheticTrace } from "../../src/replay/synthetic-trace.js";
import { prefixOf, readTrace, textOf } from "../../src/replay/trace.js";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-trace-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function store(name: string, content: unknown): void {
  writeFileSync(join(dir, `${name}.json.gz`), gzipSync(JSON.stringify(content)));
}

test("a recording is read with its transactions and the text that they come to", () => {
  const patches = [[0, 0, "Hello"]];
  store("one", { startContent: "", endContent: "Hello", txns: [{ time: "then", patches }] });
  expect(readTrace(dir, "one")).toEqual({
    startContent: "",
    endContent: "Hello",
    txns: [{ patches }],
  });
});

test("a recording that is not there is no error, and one that is none says which file it is", () => {
  expect(readTrace(dir, "absent")).toBeUndefined();
  expect(readTrace(undefined, "absent")).toBeUndefined();
  store("bad", { startContent: "", endContent: "x", txns: [{ patches: [[-1, 0, "x"]] }] });
  expect(() => readTrace(dir, "bad")).toThrow(/bad\.json\.gz is no recording/u);
});

test("a prefix ends with the text of its own transactions", () => {
  const trace = syntheticTrace(7, 300);
  const prefix = prefixOf(trace, 100);
  expect(prefix.txns).toEqual(trace.txns.slice(0, 100));
  expect(prefix.endContent).toBe(textOf(trace.txns.slice(0, 100)));
  expect(prefixOf(trace, 300)).toBe(trace);
});

test("a made-up text is the same for the same seed, leaves the basic plane, and takes out what it put in", () => {
  const trace = syntheticTrace(1, 500);
  expect(syntheticTrace(1, 500)).toEqual(trace);
  expect(syntheticTrace(2, 500).endContent).not.toBe(trace.endContent);
  expect(trace.endContent).toMatch(/\p{Extended_Pictographic}/u);
  const all = trace.txns.flatMap(({ patches }) => patches);
  expect(all.some(([, remove]) => remove > 1)).toBe(true);
  expect(trace.txns.some(({ patches }) => patches.length > 1)).toBe(true);
});

test("the reference text is what the splices of a cell come to", () => {
  const trace = syntheticTrace(3, 400);
  const spliced = trace.txns
    .flatMap(({ patches }) => patches)
    .reduce<string>(
      (text, [index, remove, insert]) =>
        applyPatch(text, [{ op: "splice", path: [], index, remove, insert }]) as string,
      "",
    );
  expect(spliced).toBe(trace.endContent);
});
