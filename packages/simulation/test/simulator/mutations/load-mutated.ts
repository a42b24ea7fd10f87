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

/** One place of a source, changed. */
export type Planted = Pick<Mutation, "name" | "file" | "find" | "replace">;

/** A module over sources of which one line is changed. */
export interface PlantedModule<Module> {
  readonly module: Module;
  close(): Promise<void>;
}

/**
 * Loads the simulator over every source of the system afresh, one of them changed.
 *
 * @throws Error where the mutation does not fit its source any more
 */
export async function loadMutated(mutation: Planted): Promise<MutatedSimulator> {
  const { module, close } = await loadPlanted<typeof Simulator>(
    mutation,
    "/src/simulator/index.ts",
  );
  return { simulator: module, close };
}

/**
 * Loads a module of this package over every source of the system afresh, one of them changed.
 *
 * @throws Error where the fault does not fit its source any more
 */
export async function loadPlanted<Module>(
  planted: Planted,
  path: string,
): Promise<PlantedModule<Module>> {
  const file = join(PACKAGES, planted.file);
  const places = readFileSync(file, "utf8").split(planted.find).length - 1;
  if (places !== 1) {
    throw new Error(`"${planted.name}" fits ${places} places of ${planted.file}; it must fit one`);
  }
  const plant: Plugin = {
    name: "plant",
    enforce: "pre",
    transform: (code, id) =>
      id === file ? code.replace(planted.find, () => planted.replace) : undefined,
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
  const module = await server.ssrLoadModule(path);
  return { module: module as Module, close: () => server.close() };
}
