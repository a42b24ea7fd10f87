import { expect, test } from "vitest";
import { stage } from "@tidemark/patterns/testing";
import type { Pattern } from "@tidemark/runtime";
import { runGuide } from "./support.js";

test("the pattern of the project's README is one, and counts votes", async () => {
  const { exports } = await runGuide("README.md");
  const { fire, see } = await stage(exports["poll"] as Pattern);
  await fire("vote", { option: "soup" });
  expect([see("total"), Object.values(see("votes") as object)]).toEqual([1, ["soup"]]);
});
