import { expect, test } from "vitest";
import { runScenario } from "../src/run/run-scenario.js";
import { parseScenario } from "../src/scenario/file.js";
import { blocksOf } from "./docs/support.js";

test("the scenario in the README passes", async () => {
  const [text = ""] = blocksOf("packages/simulation/README.md", "json");
  const scenario = parseScenario("README.md", JSON.parse(text));
  const { failure } = await runScenario(scenario, { transport: "loopback" });
  expect(failure).toBe(undefined);
});
