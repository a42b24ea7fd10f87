import { defineConfig, mergeConfig } from "vitest/config";
import shared from "../../vitest.shared.js";

/** Some tests start the real program, so it is compiled first. */
export default mergeConfig(
  shared,
  defineConfig({ test: { globalSetup: ["test/support/build.ts"], testTimeout: 30_000 } }),
);
