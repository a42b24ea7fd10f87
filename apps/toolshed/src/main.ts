#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@tidemark/protocol";
import { run } from "./cli/run.js";
import { EXIT } from "./cli/startup-failure.js";
import { describeError, describeForeignError, type LoggedError } from "./log/describe-error.js";

/** The process around the program: its arguments, its signals, its end. */
function main(): void {
  // What nobody caught leaves the process in no state to go on; another one takes the leases over.
  const crash = (error: LoggedError): void => {
    process.stderr.write(`${JSON.stringify({ level: "error", message: "crashed", error })}\n`);
    process.exit(EXIT.internal);
  };
  const fatal = (error: unknown): void => crash(describeError(error));
  process.on("uncaughtException", fatal);
  // A promise that a handler left alone, as likely as not: its words are not ours.
  process.on("unhandledRejection", (error) => crash(describeForeignError(error)));
  void run({
    argv: process.argv.slice(2),
    env: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    shellDir: shellDir(),
    version: version(),
    onStop: (fn) => {
      for (const signal of ["SIGTERM", "SIGINT"]) {
        process.on(signal, () => fn(signal, systemClock.monotonic()));
      }
    },
    exit: (code) => process.exit(code),
  }).then((code) => process.exit(code), fatal);
}

/** The built shell beside this program; none where it was not built. */
function shellDir(): string | undefined {
  const dir = join(
    dirname(fileURLToPath(import.meta.resolve("@tidemark/shell/package.json"))),
    "dist",
  );
  return existsSync(join(dir, "index.html")) ? dir : undefined;
}

function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

main();
