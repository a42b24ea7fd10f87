import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateIdentity, systemRandom } from "@tidemark/protocol";
import { storeFileOf } from "@tidemark/memory-engine";
import { ToolshedProcess, type ToolshedProcessOptions } from "../../src/testing/index.js";
import { socketsTo, voter } from "./voter.js";

/** The processes, clients and files of one test. */
export class Processes {
  readonly dataDir = mkdtempSync(join(tmpdir(), "toolshed-test-"));
  readonly #running: ToolshedProcess[] = [];
  readonly #clients: { drop(): void }[] = [];

  /** Starts one on the test's folder. */
  start(options: ToolshedProcessOptions = {}): ToolshedProcess {
    const one = new ToolshedProcess({ dataDir: this.dataDir, ...options });
    this.#running.push(one);
    return one;
  }

  /** A person at the poll of whatever process `at` says at the time. */
  person(at: () => ToolshedProcess, demo: { readonly space: string; readonly piece: string }) {
    const one = voter(
      socketsTo(() => at().socketUrl),
      demo,
    );
    this.#clients.push(one.client);
    return one;
  }

  /** The one store file there is. */
  storeFile(): string {
    const dir = join(this.dataDir, "spaces");
    const [name] = readdirSync(dir).filter((file) => file.endsWith(".sqlite"));
    return join(dir, name ?? "none");
  }

  /** A file name for the store of a space that this folder has not. */
  otherStoreFile(): string {
    const space = generateIdentity(systemRandom).did as never;
    return storeFileOf(join(this.dataDir, "spaces"), space);
  }

  async end(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.drop();
    await Promise.all(this.#running.splice(0).map((one) => one.crash()));
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
