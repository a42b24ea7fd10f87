import { runReadmeExample } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";

const run = (index: number) =>
  runReadmeExample({
    packageDir: new URL("..", import.meta.url).href,
    load: (path) => import(path),
    index,
  });

test("the first example of the README does what it says", async () => {
  expect((await run(0)).printed).toHaveLength(2);
});

test("the second example of the README does what it says", async () => {
  expect((await run(1)).printed).toEqual(["Ada Lovelace", "Grace Hopper", "Grace Hopper"]);
});
