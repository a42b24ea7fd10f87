import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What a child tells of itself. */
export interface Usage {
  /** Heap and what hangs on it after a collection, bytes. */
  readonly heapBytes: number;
  readonly rssBytes: number;
}

/** What a child has used. */
export interface Processor {
  /** Processor time since its start, ms. */
  readonly cpuMs: number;
}

/** A program of this package in a process of its own; answers one question at a time. */
export class Child {
  readonly #process: ChildProcess;
  readonly #program: string;

  /** @param program its name under `children/`. */
  constructor(program: string, args: readonly string[] = []) {
    this.#program = program;
    const file = fileURLToPath(new URL(`../children/${program}.js`, import.meta.url));
    this.#process = fork(file, [...args], { execArgv: ["--expose-gc"] });
  }

  /** The next thing that it says. Rejects where it ends instead. */
  next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => {
        reject(new Error(`the program ${this.#program} ended with ${code} and said nothing`));
      };
      this.#process.once("exit", ended);
      this.#process.once("message", (message) => {
        this.#process.off("exit", ended);
        resolve(message as T);
      });
    });
  }

  ask<T>(question: string): Promise<T> {
    const answer = this.next<T>();
    this.#process.send(question);
    return answer;
  }

  usage(): Promise<Usage> {
    return this.ask<Usage>("usage");
  }

  /** Without a collection, which would be counted. */
  async cpuMs(): Promise<number> {
    return (await this.ask<Processor>("processor")).cpuMs;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#process.exitCode !== null || !this.#process.connected) resolve();
      else {
        this.#process.once("exit", () => resolve());
        this.#process.send("stop");
      }
    });
  }
}
