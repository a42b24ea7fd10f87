import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const ENTRY = fileURLToPath(new URL("../processes/child.ts", import.meta.url));

/** Bundles the child script from the sources once, so that a plain Node runs it. */
export async function bundleChild(name: string): Promise<string> {
  const outDir = `${PACKAGE}/.tidemark/${name}`;
  await build({
    configFile: false,
    logLevel: "silent",
    root: PACKAGE,
    resolve: { conditions: ["source"] },
    ssr: { noExternal: true, external: ["better-sqlite3"], resolve: { conditions: ["source"] } },
    build: {
      ssr: ENTRY,
      outDir,
      emptyOutDir: true,
      minify: false,
      rollupOptions: { output: { entryFileNames: "child.mjs" } },
    },
  });
  return `${outDir}/child.mjs`;
}

/** A store's process: told what to do by lines, and waited for by its lines. */
export class StoreProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: string[] = [];
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(script: string, path: string) {
    this.#child = spawn(process.execPath, [script, path]);
    this.#child.stderr.on("data", (text: Buffer) => this.#push(`error ${text.toString()}`));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#push(line));
  }

  tell(command: string): void {
    this.#child.stdin.write(`${command}\n`);
  }

  /** The next line the process prints. */
  line(): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async ask(command: string): Promise<string> {
    this.tell(command);
    return this.line();
  }

  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    this.#child.kill(signal);
  }

  /** Ends the process and resolves once it is gone. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await gone;
  }

  #push(line: string): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }
}
