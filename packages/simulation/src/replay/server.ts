import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startToolshed, type ToolshedProcess } from "@tidemark/toolshed/testing";
import { z } from "zod";

/** What a server process uses. */
export interface Usage {
  /** Processor time since its start, ms. */
  readonly cpuMs: number;
  /** Heap and what hangs on it, after a collection, bytes. */
  readonly heapBytes: number;
  /** Resident set, bytes. */
  readonly rssBytes: number;
}

/** Both are loaded by another process, so they are always the built ones; `src/` and `dist/` lie equally deep. */
const PATTERNS = fileURLToPath(new URL("../../dist/replay/text-pattern.js", import.meta.url));
const PROBE = new URL("../../dist/replay/usage-probe.js", import.meta.url).href;
const Stats = z.object({ memory: z.object({ replays: z.number() }) });
const USAGE = /^usage (\{.*\})$/u;

/** One server over its lives: real toolshed processes on one folder and one port. */
export class ReplayServer {
  readonly #leaseTtlMs: number;
  readonly #dataDir = mkdtempSync(join(tmpdir(), "tidemark-replay-"));
  #process: ToolshedProcess | undefined;
  #port = 0;
  #life = 0;
  #earlierCpuMs = 0;
  #lastCpuMs = 0;

  private constructor(leaseTtlMs: number) {
    this.#leaseTtlMs = leaseTtlMs;
  }

  /** @param leaseTtlMs how long the lease of a killed process stands in the way of the next one. */
  static async start(leaseTtlMs: number): Promise<ReplayServer> {
    const server = new ReplayServer(leaseTtlMs);
    await server.#start();
    return server;
  }

  get socketUrl(): string {
    return this.#running.socketUrl;
  }

  /** How many processes there were before the present one. */
  get life(): number {
    return this.#life;
  }

  /** What the present process uses; its processor time includes that of the earlier ones up to when they were last asked. */
  async usage(): Promise<Usage> {
    const running = this.#running;
    const { output } = running;
    const answer = output.waitFor(USAGE, output.lines.length);
    running.kill("SIGUSR2");
    const usage = JSON.parse(USAGE.exec(await answer)?.[1] ?? "{}") as Usage;
    this.#lastCpuMs = usage.cpuMs + this.#earlierCpuMs;
    return { ...usage, cpuMs: this.#lastCpuMs };
  }

  /** How often the present process was sent what it had already, and answered as before. */
  async resent(): Promise<number> {
    const response = await fetch(`${this.#running.url}/api/health/stats`);
    return Stats.parse(await response.json()).memory.replays;
  }

  /** `kill -9`, and a new process on the same folder and port. Resolves when that one listens. */
  async killAndRestart(): Promise<void> {
    const { signal } = await this.#running.crash();
    if (signal !== "SIGKILL") throw new Error(`the server ended by itself:\n${this.output}`);
    this.#life += 1;
    this.#earlierCpuMs = this.#lastCpuMs;
    await this.#start();
  }

  /** What the present process printed. */
  get output(): string {
    return this.#process?.output.text ?? "";
  }

  /** Ends it as SIGTERM does, and removes its folder. */
  async stop(): Promise<void> {
    await this.#process?.stop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  /** Ends it at once; for an end that must not wait. */
  abandon(): void {
    this.#process?.kill("SIGKILL");
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  get #running(): ToolshedProcess {
    if (this.#process === undefined) throw new Error("the server was not started");
    return this.#process;
  }

  async #start(): Promise<void> {
    this.#process = await startToolshed({
      dataDir: this.#dataDir,
      port: this.#port,
      args: ["--no-demo", "--patterns", PATTERNS],
      env: {
        NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import=${PROBE}`,
        SERVER_EXECUTION_LEASE_TTL_MS: String(this.#leaseTtlMs),
      },
    });
    this.#port = this.#process.port;
  }
}
