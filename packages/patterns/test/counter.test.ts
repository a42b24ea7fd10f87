import { expect, test } from "vitest";
import { counter } from "../src/index.js";
import { stage } from "../src/testing/index.js";

test("[PA-C1] a counter counts up, down and starts again", async () => {
  const { fire, see } = await stage(counter);

  await fire("increment", {});
  await fire("increment", { by: 4 });
  await fire("decrement", { by: 2 });
  expect([see("count"), see("parity")]).toEqual([3, "odd"]);

  await fire("reset");
  expect([see("count"), see("parity")]).toEqual([0, "even"]);
});

test("[PA-C2] a step that is no whole number is refused and changes nothing", async () => {
  const { fire, see } = await stage(counter);

  expect(await fire("increment", { by: "lots" })).toMatchObject({ kind: "errored" });
  expect(await fire("increment", { by: 0.5 })).toMatchObject({ kind: "errored" });

  expect(see("count")).toBe(0);
});

test("[PA-C3] a step of none is no fault", async () => {
  const { fire, see } = await stage(counter, { title: "Cups" });

  expect(await fire("increment", { by: 0 })).toMatchObject({ kind: "sealed" });

  expect([see("count"), see("title")]).toEqual([0, "Cups"]);
});
