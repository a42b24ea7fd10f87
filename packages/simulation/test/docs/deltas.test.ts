import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSpec } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { readText, ROOT } from "./support.js";

test("the list of open points has every rule under Not yet, once, and no rule that is met", () => {
  const specs = ["packages", "apps"]
    .flatMap((group) => readdirSync(join(ROOT, group)).map((name) => join(ROOT, group, name)))
    .map((dir) => join(dir, "SPEC.md"))
    .filter((file) => existsSync(file))
    .map((file) => readSpec(readFileSync(file, "utf8")));
  expect(specs.length).toBeGreaterThan(8);
  const open = specs.flatMap(({ notYet }) => notYet);
  const listed = [
    ...readText("docs/deltas/README.md").matchAll(/^\| \*\*([A-Z]+-[A-Z]*\d+)\*\*/gmu),
  ];
  expect(listed.map(([, id]) => id).sort()).toEqual([...open].sort());
});
