import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What a browser is shown is what is built: the shell and the toolshed, from the sources as they are. */
export default async function setup(): Promise<void> {
  await Promise.all([
    build({ root: at("../../../"), logLevel: "error" }),
    run(process.execPath, [at("../../../../../node_modules/typescript/bin/tsc"), "-b"], {
      cwd: at("../../../../toolshed/"),
    }),
  ]);
}
