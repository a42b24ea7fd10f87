/**
 * Runs tasks one after the other. A task starts at once where none is running, and one that is
 * synchronous has ended when `run` returns.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #running = false;
  #draining = false;

  /** Whether a task is running or waiting. */
  get busy(): boolean {
    return this.#running || this.#waiting.length > 0;
  }

  /** Runs the task in its turn; settles as it does. */
  run<T>(task: () => Promise<T> | T): Promise<T> {
    if (!this.busy) return this.#start(task);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => void this.#start(task).then(resolve, reject));
    });
  }

  #start<T>(task: () => Promise<T> | T): Promise<T> {
    this.#running = true;
    let result: Promise<T> | T;
    try {
      result = task();
    } catch (error) {
      this.#next();
      return Promise.reject(error);
    }
    if (!(result instanceof Promise)) {
      this.#next();
      return Promise.resolve(result);
    }
    return result.finally(() => this.#next());
  }

  /** A loop and no recursion: thousands of synchronous tasks may be waiting. */
  #next(): void {
    this.#running = false;
    if (this.#draining) return;
    this.#draining = true;
    while (!this.#running) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      next();
    }
    this.#draining = false;
  }
}
