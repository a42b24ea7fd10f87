import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createServer, type Plugin } from "vite";
import type * as Simulator from "../../../src/simulator/index.js";
import type { Mutation } from "./mutations.js";

const PACKAGES = join(import.meta.dirname, "../../../..");

/** The simulator over sources of which one line is changed. */
export interface MutatedSimulator {
  readonly simulator: typeof Simulator;
  close(): Promise<void>;
}

/**
 * Loads every source of the system afresh, one of them changed.
 *
 * @throws Error where the mutation does not fit its source any more
 */
export async function loadMutated(mutation: Mutation): Promise<MutatedSimulator> {
  const file = join(PACKAGES, mutation.file);
  const places = readFileSync(file, "utf8").split(mutation.find).length - 1;
  if (places !== 1) {
    throw new Error(
      `"${mutation.name}" fits ${places} places of ${mutation.file}; it must fit one`,
    );
  }
  const plant: Plugin = {
    name: "plant",
    enforce: "pre",
    transform: (code, id) =>
      id === file ? code.replace(mutation.find, () => mutation.replace) : undefined,
  };
  const server = await createServer({
    configFile: false,
    root: join(PACKAGES, "simulation"),
    logLevel: "error",
    appType: "custom",
    plugins: [plant],
    resolve: { conditions: ["source"] },
    ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  const simulator = await server.ssrLoadModule("/src/simulator/index.ts");
  return {
    simulator: simulator as MutatedSimulator["simulator"],
    close: () => server.close(),
  };
}
