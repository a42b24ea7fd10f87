import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OutputLines } from "./output-lines.js";

/** How a toolshed process is started. */
export interface ToolshedProcessOptions {
  /** Default: a new temporary folder, which is the caller's to remove (`process.dataDir`). */
  readonly dataDir?: string;
  /** Default 0: any free port. Give the earlier one to come back under the same address. */
  readonly port?: number;
  /** Further arguments of the command line. */
  readonly args?: readonly string[];
  /** Further environment variables; the caller's own are passed on. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The line that says where a server listens. */
const LISTENING = /^toolshed listening on (http:\/\/\S+)$/u;
const DEMO = /#\/space\/(did:key:[^/\s]+)\/piece\/(\S+)$/u;
/** `dist/testing/` and `src/testing/` lie equally deep. The program is always the built one. */
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** A real toolshed process. It runs from `dist`, so the package has to be built. */
export class ToolshedProcess {
  readonly dataDir: string;
  /** Everything it has printed, and will print. */
  readonly output = new OutputLines();
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  #url: string | undefined;

  constructor(options: ToolshedProcessOptions = {}) {
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "toolshed-"));
    const args = ["--port", String(options.port ?? 0), "--data-dir", this.dataDir];
    this.#child = spawn(process.execPath, [MAIN, ...args, ...(options.args ?? [])], {
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.output.push("stdout", chunk.toString()));
    this.#child.stderr?.on("data", (chunk: Buffer) => this.output.push("stderr", chunk.toString()));
    this.exited = new Promise((resolve) => {
      this.#child.on("error", (error) => this.output.end(error.message));
      this.#child.on("close", (code, signal) => {
        this.output.end(`the process ended with ${signal ?? `code ${code}`}`);
        resolve({ code, signal });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Where it listens. Known once {@link ToolshedProcess.listening} has resolved. */
  get url(): string {
    if (this.#url === undefined) throw new Error("the toolshed does not listen yet");
    return this.#url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get socketUrl(): string {
    return `${this.url.replace(/^http/u, "ws")}/api/storage/memory`;
  }

  /** Waits for the line that says where it listens. Rejects with what it printed where it ends first. */
  async listening(): Promise<this> {
    const line = await this.output.waitFor(LISTENING);
    this.#url = LISTENING.exec(line)?.[1];
    return this;
  }

  /** The demo's space and piece, from the line that names them. */
  async demo(): Promise<{ readonly space: string; readonly piece: string }> {
    const found = DEMO.exec(await this.output.waitFor(DEMO));
    return { space: found?.[1] ?? "", piece: found?.[2] ?? "" };
  }

  /** Sends a signal: `SIGKILL` is the crash, `SIGSTOP` the suspended process. */
  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it at once and waits for the end: what a crash leaves behind. */
  crash(): Promise<ProcessEnd> {
    this.kill("SIGKILL");
    return this.exited;
  }

  /** Asks it to end, and waits. */
  stop(): Promise<ProcessEnd> {
    this.kill("SIGTERM");
    return this.exited;
  }
}

/**
 * Starts a toolshed and waits until it listens.
 *
 * @throws Error with what the process printed where it ends first.
 */
export function startToolshed(options?: ToolshedProcessOptions): Promise<ToolshedProcess> {
  return new ToolshedProcess(options).listening();
}
