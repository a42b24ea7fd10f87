import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { EffectError } from "../../effects/performer.js";
import { failure } from "../failure.js";
import type { Query, QueryAnswer } from "./query-answer.js";

const PROGRAM = fileURLToPath(new URL("./query-process.mjs", import.meta.url));

/**
 * A process that runs one query at a time (`query-process.mjs`). It has no environment of this one, so no secret in
 * it, and does not outlive it.
 */
export class QueryProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #alive = true;
  #answered: ((answer: QueryAnswer | EffectError) => void) | undefined;

  constructor(maxMemoryBytes: number) {
    this.#child = fork(PROGRAM, [String(maxMemoryBytes)], {
      env: {},
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("message", (answer) => {
      // It ends itself over this, and may say one thing more: the next query, of whatever space, must not get that.
      if (isLast(answer as QueryAnswer)) this.#alive = false;
      this.#settle(answer as QueryAnswer);
    });
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#alive = false;
        this.#settle(failure("provider", "crashed", "sqliteQuery: the query's process ended"));
        resolve();
      };
      this.#child.on("exit", end);
      this.#child.on("error", end);
    });
    this.#hold(false);
  }

  /** Another query may be asked. */
  get alive(): boolean {
    return this.#alive;
  }

  /** One query; the next may come once this is answered. @throws EffectError where the process ended. */
  async ask(query: Query): Promise<QueryAnswer> {
    const answer = await new Promise<QueryAnswer | EffectError>((resolve) => {
      this.#answered = resolve;
      this.#hold(true);
      this.#child.send(query);
    });
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /** Ends it, in the middle of whatever it does. Resolves when it is gone. */
  kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    return this.#ended;
  }

  #settle(answer: QueryAnswer | EffectError): void {
    this.#hold(false);
    this.#answered?.(answer);
    this.#answered = undefined;
  }

  /** An idle process must not keep this one from ending. */
  #hold(hold: boolean): void {
    const way = hold ? "ref" : "unref";
    this.#child[way]();
    this.#child.channel?.[way]();
  }
}

function isLast(answer: QueryAnswer): boolean {
  return "failure" in answer && answer.failure === "memory";
}
