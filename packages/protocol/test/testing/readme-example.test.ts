import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readExamples, runReadmeExample } from "../../src/testing/index.js";

const packageDir = fileURLToPath(new URL("../..", import.meta.url));
// Below the package, so that the example resolves it; git ignores the folder.
const dir = join(packageDir, ".tidemark", "readme-test");

beforeAll(() => void mkdirSync(dir, { recursive: true }));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function readme(name: string, ...lines: readonly string[]): { packageDir: string; file: string } {
  writeFileSync(join(dir, name), ["# It", "```ts", ...lines, "```", ""].join("\n"));
  return { packageDir: dir, file: name };
}

test("[PR-X7] the example in this package's README runs and prints what it promises", async () => {
  const { printed } = await runReadmeExample({ packageDir });
  expect(printed.length).toBeGreaterThan(2);
});

test("[PR-X7] what an example exports and prints is handed out, and its file is gone after", async () => {
  const input = readme(
    "good.md",
    'import { canonicalJson } from "@tidemark/protocol";',
    'console.log(canonicalJson({ b: 1, a: 2 }), "done"); // prints: {"a":2,"b":1} done',
    "export const answer: number = 42;",
  );
  expect(await runReadmeExample(input)).toEqual({
    exports: { answer: 42 },
    printed: ['{"a":2,"b":1} done'],
  });
  expect(existsSync(join(dir, ".tidemark")) && readdirSync(join(dir, ".tidemark"))).toEqual([]);
});

test("[PR-X7] an example that prints something else, throws or is not there fails", async () => {
  const other = readme("other.md", "console.log(1 + 1); // prints: 3");
  await expect(runReadmeExample(other)).rejects.toThrow('promises ["3"] and prints ["2"]');
  const throws = readme("throws.md", 'throw new Error("no");', "export {};");
  await expect(runReadmeExample(throws)).rejects.toThrow("no");
  await expect(runReadmeExample({ ...other, index: 1 })).rejects.toThrow("no ```ts block 1");
});

test("[PR-X7] examples are the ts blocks of a file, in order", () => {
  expect(readExamples("```ts\na\n```\n```sh\nb\n```\n```ts\nc\nd\n```\n")).toEqual([
    "a\n",
    "c\nd\n",
  ]);
});
