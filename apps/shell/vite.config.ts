import { preact } from "@preact/preset-vite";
import { defineConfig } from "vite";

/** The workspace's packages are bundled from their sources, so that a build needs no other build. */
export default defineConfig({
  plugins: [preact()],
  resolve: { conditions: ["source", "module", "browser", "import", "default"] },
  build: { target: "es2022", sourcemap: true, chunkSizeWarningLimit: 900 },
});
