import { expect, test } from "vitest";
import { runReadmeExample } from "@tidemark/protocol/testing";

test("the README's example runs as it stands", async () => {
  const { printed } = await runReadmeExample({
    packageDir: new URL("..", import.meta.url).href,
    load: (path) => import(path),
  });
  expect(printed.length).toBeGreaterThan(0);
});
