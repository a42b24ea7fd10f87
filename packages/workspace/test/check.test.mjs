import { expect, test } from "vitest";
import { checkFile } from "../src/check.mjs";

const pkg = (name, manifest = {}, app = false) => ({
  name,
  dir: `${app ? "apps" : "packages"}/${name}`,
  app,
  manifest,
});
const messages = (p, file, source) => checkFile(p, file, source).map((v) => v.message);

const client = pkg("client", {
  dependencies: { "@tidemark/protocol": "workspace:*", "@tidemark/memory-engine": "workspace:*" },
  devDependencies: { "@tidemark/executor": "workspace:*", vitest: "1" },
});

test("[WS-I1] an import that the table does not allow is named with its line", () => {
  const found = checkFile(
    client,
    "src/a.ts",
    '\nimport { Engine } from "@tidemark/memory-engine";\n',
  );
  expect(found).toEqual([
    {
      file: "packages/client/src/a.ts",
      line: 2,
      message: expect.stringContaining("client may not import memory-engine"),
    },
  ]);
});

test.each([
  ["a type-only import", 'import type { E } from "@tidemark/memory-engine";'],
  ["a re-export", 'export { E } from "@tidemark/memory-engine";'],
  ["a dynamic import", 'const m = await import("@tidemark/memory-engine");'],
  ["an import type", 'type E = import("@tidemark/memory-engine").E;'],
])("[WS-I1] %s counts as an import", (_name, source) => {
  expect(messages(client, "src/a.ts", source)).toHaveLength(1);
});

test("[WS-I1] an allowed import, and text that only looks like one, pass", () => {
  const source = `
    import { a } from "@tidemark/protocol";
    // import { b } from "@tidemark/memory-engine";
    const text = 'import { c } from "@tidemark/memory-engine"';
    export const d = a + text;`;
  expect(messages(client, "src/a.ts", source)).toEqual([]);
});

test("[WS-I2] a test may import a development dependency, and a source may not", () => {
  const source = 'import { x } from "@tidemark/executor";';
  expect(messages(client, "test/a.test.ts", source)).toEqual([]);
  expect(messages(client, "src/a.ts", source)).toHaveLength(1);
});

test("[WS-I3] a deep import is refused everywhere, the testing entry only in sources", () => {
  const deep = 'import { x } from "@tidemark/protocol/dist/x.js";';
  const testing = 'import { x } from "@tidemark/protocol/testing";';
  expect(messages(client, "test/a.test.ts", deep)).toEqual([
    expect.stringContaining("deep import"),
  ]);
  expect(messages(client, "test/a.test.ts", testing)).toEqual([]);
  expect(messages(client, "src/a.ts", testing)).toEqual([expect.stringContaining("for tests")]);
  expect(messages(client, "src/testing/a.ts", testing)).toEqual([]);
});

test("[WS-I4] a test may import its own package by name, and a source may not", () => {
  const source = 'import { x } from "@tidemark/client";';
  expect(messages(client, "test/a.test.ts", source)).toEqual([]);
  expect(messages(client, "src/a.ts", source)).toEqual([expect.stringContaining("itself")]);
});

test("[WS-I4] a relative path that leaves the package is refused", () => {
  expect(messages(client, "src/a.ts", 'import "../../protocol/src/index.js";')).toHaveLength(1);
  expect(messages(client, "src/deep/a.ts", 'import "../b.js";')).toEqual([]);
});

test("[WS-I5] a Node built-in is refused where the package runs in a browser, with and without its prefix", () => {
  expect(messages(client, "src/a.ts", 'import fs from "node:fs";')).toHaveLength(1);
  expect(messages(client, "src/a.ts", 'import fs from "fs";')).toHaveLength(1);
  expect(messages(client, "src/testing/a.ts", 'import fs from "node:fs";')).toEqual([]);
  expect(messages(pkg("executor"), "src/a.ts", 'import fs from "node:fs";')).toEqual([]);
});

test("[WS-I6] an npm package that the manifest does not declare is refused", () => {
  expect(messages(client, "src/a.ts", 'import x from "left-pad";')).toHaveLength(1);
  expect(messages(client, "test/a.test.ts", 'import { test } from "vitest";')).toEqual([]);
});

test("[WS-I7] the shell may import the client and no engine", () => {
  const shell = pkg(
    "shell",
    { dependencies: { "@tidemark/client": "1", "@tidemark/executor": "1" } },
    true,
  );
  expect(messages(shell, "src/a.ts", 'import { c } from "@tidemark/client";')).toEqual([]);
  expect(messages(shell, "src/a.ts", 'import { c } from "@tidemark/executor";')).toHaveLength(1);
});

test("[WS-I8] export * is refused", () => {
  expect(messages(client, "src/a.ts", 'export * from "./b.js";')).toHaveLength(1);
});

// The list of seed 001 §8, word by word, so that none falls out of the table unseen.
const RETIRED =
  "claim candidate settlement fence rank contextKey completeSchedulerScopeSummary completeActionScopeSummary " +
  "scopeSummary evidence observationReplay shadowRun admissionCertificate lease_generation fencingToken";

test.each(RETIRED.split(" "))(
  "[WS-N1] the retired name %s is refused as an identifier and allowed in a comment",
  (name) => {
    expect(messages(client, "src/a.ts", `export const ${name} = 1;`)).toHaveLength(1);
    expect(messages(client, "src/a.ts", `export const a = b.${name};`)).toHaveLength(1);
    expect(messages(client, "src/a.ts", `// no ${name} here\nexport const a = 1;`)).toEqual([]);
  },
);
