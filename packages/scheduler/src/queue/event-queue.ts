import type { EventTask } from "../types.js";

/** First in, first out, one at a time (R23): a task that waits holds those behind it, never the derivations. */
export class EventQueue {
  readonly #failed: (id: string, error: unknown) => void;
  readonly #ended: () => void;
  #waiting: EventTask[] = [];
  /** The first that still waits; taken from the front by index, since shifting a long array moves it all. */
  #head = 0;
  #current: string | undefined;
  started = 0;

  constructor(ended: () => void, failed: (id: string, error: unknown) => void) {
    this.#ended = ended;
    this.#failed = failed;
  }

  get length(): number {
    return this.#waiting.length - this.#head;
  }

  /** A task runs or waits in its middle. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** The next task may start. Kept as a field: the settle loop looks at it between any two steps. */
  ready = false;

  #look(): void {
    this.ready = this.#current === undefined && this.length > 0;
  }

  add(task: EventTask): void {
    this.#waiting.push(task);
    this.#look();
  }

  drop(matches: (task: EventTask) => boolean): EventTask[] {
    const waiting = this.#waiting.slice(this.#head);
    const dropped = new Set(waiting.filter(matches));
    this.#waiting = waiting.filter((task) => !dropped.has(task));
    this.#head = 0;
    this.#look();
    return [...dropped];
  }

  /** Starts the next task; false when it went to its end at once. */
  start(): boolean {
    const task = this.#take();
    if (task === undefined) return false;
    this.started++;
    this.#current = task.id;
    this.ready = false;
    try {
      const ending = task.run();
      if (ending === undefined) {
        this.#current = undefined;
        this.#look();
        return false;
      }
      void ending.then(
        () => this.#end(),
        (error: unknown) => this.#end(task.id, error),
      );
      return true;
    } catch (error) {
      this.#current = undefined;
      this.#look();
      this.#failed(task.id, error);
      return false;
    }
  }

  #take(): EventTask | undefined {
    const task = this.#waiting[this.#head++];
    if (this.#head >= this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    return task;
  }

  #end(id?: string, error?: unknown): void {
    this.#current = undefined;
    this.#look();
    if (id !== undefined) this.#failed(id, error);
    this.#ended();
  }
}
