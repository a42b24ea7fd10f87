/**
 * Runs tasks one after the other. A task starts at once where none is running, so that what it does
 * before its first `await` has happened when `run` returns.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #running = false;

  /** Whether a task is running or waiting. */
  get busy(): boolean {
    return this.#running || this.#waiting.length > 0;
  }

  /** Runs the task in its turn; settles as it does. */
  run<T>(task: () => Promise<T> | T): Promise<T> {
    if (!this.#running && this.#waiting.length === 0) return this.#start(task);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => void this.#start(task).then(resolve, reject));
    });
  }

  async #start<T>(task: () => Promise<T> | T): Promise<T> {
    this.#running = true;
    try {
      return await task();
    } finally {
      this.#running = false;
      this.#waiting.shift()?.();
    }
  }
}
