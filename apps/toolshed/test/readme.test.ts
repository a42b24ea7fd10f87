import { runReadmeExample } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";

test("the example of the README does what it says", async () => {
  const { printed } = await runReadmeExample({
    packageDir: new URL("..", import.meta.url).href,
    load: (path) => import(/* @vite-ignore */ path),
  });
  expect(printed).toEqual(["consequenced", "true"]);
});
