import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Compiles this package and what it is made of; what did not change is passed over. */
export default async function setup(): Promise<void> {
  const tsc = at("../../../../node_modules/typescript/bin/tsc");
  try {
    await promisify(execFile)(process.execPath, [tsc, "-b"], { cwd: at("../../") });
  } catch (error) {
    throw new Error(`toolshed does not compile:\n${(error as { stdout?: string }).stdout ?? ""}`, {
      cause: error,
    });
  }
}
