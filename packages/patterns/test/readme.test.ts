import { runReadmeExample } from "@tidemark/runtime/testing";
import { expect, test } from "vitest";

test("the example of the README does what it says", async () => {
  const { printed } = await runReadmeExample({
    packageDir: new URL("..", import.meta.url).href,
    load: (path) => import(path),
  });

  expect(printed).toHaveLength(1);
});
