import { defineConfig } from "vitest/config";

/** One configuration for every package: sources, not dist, so a test never runs against a stale build. */
export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/dist/**", "**/node_modules/**"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: "threads",
    // No module holds state, so files of one thread share them: half of a run was importing the same sources again.
    isolate: false,
  },
});
