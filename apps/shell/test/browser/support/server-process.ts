import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../../toolshed/dist/main.js", import.meta.url));
const READY =
  /toolshed listening on (http:\/\/\S+)\n[\s\S]*#\/space\/(did:key:[^/\s]+)\/piece\/\S+\n/u;
/** Short, so that a process that was killed is succeeded soon. */
const LEASE_TTL_MS = "1000";

/** A real toolshed process. The shell may not depend on toolshed, which serves it, so it is started by its path. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(
    child: ChildProcess,
    readonly dataDir: string,
    readonly url: string,
    readonly demoSpace: string,
  ) {
    this.#child = child;
    this.#exited = new Promise((resolve) => void child.once("close", resolve));
  }

  /** Starts one and waits for the lines that say where it is. Rejects with what it printed where it ends first. */
  static start(options: { readonly dataDir?: string; readonly port?: number }) {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "tidemark-shell-"));
    const args = [MAIN, "--port", String(options.port ?? 0), "--data-dir", dataDir];
    const env = { ...process.env, SERVER_EXECUTION_LEASE_TTL_MS: LEASE_TTL_MS };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    return new Promise<ServerProcess>((resolve, reject) => {
      let printed = "";
      const take = (chunk: Buffer): void => {
        printed += chunk.toString();
        const [, url, space] = READY.exec(printed) ?? [];
        if (url && space) resolve(new ServerProcess(child, dataDir, url, space));
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.once("close", (code) => reject(new Error(`toolshed ended with ${code}:\n${printed}`)));
    });
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The key of the demo's owner, as it is kept. */
  demoOwnerSeed(): string {
    return readFileSync(join(this.dataDir, "keys", "demo-owner.key"), "utf8").trim();
  }

  /** `kill -9`. */
  async crash(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}
