import { defineConfig } from "vitest/config";
import shared from "../../vitest.shared.js";

/** A real Chromium against real toolshed processes. One after another: they share the machine's two cores. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/browser/support/build.ts"],
    fileParallelism: false,
    testTimeout: 45_000,
    hookTimeout: 60_000,
  },
});
