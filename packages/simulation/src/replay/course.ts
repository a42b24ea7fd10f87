import { type Cancellable, systemClock } from "@tidemark/protocol";
import type { MemorySample } from "./memory.js";
import type { ReplayServer } from "./server.js";
import { isAnswer, type Wires } from "./wires.js";

/** How far a replay is. */
export interface ReplayProgress {
  readonly done: number;
  readonly total: number;
  /** `kill -9`s so far. */
  readonly kills: number;
  /** Whether a server stands at this moment. */
  readonly up: boolean;
}

/** What a {@link Course} is given. */
export interface CourseOptions {
  readonly server: ReplayServer;
  /** The sockets of those who write. */
  readonly wires: Wires;
  readonly total: number;
  /** After how many durable appends the server is killed, ascending. */
  readonly killsAt: readonly number[];
  /** A sample of memory each so many handled events. */
  readonly sampleEvery: number;
  /** A replay in which nothing was handled for so long has hung, ms. */
  readonly stallMs: number;
  readonly onProgress: (progress: ReplayProgress) => void;
}

/**
 * What happens beside the writing: counts, kills at their points, samples of memory, and the end of patience.
 *
 * The first kill and each second one after it come when an append is durable and its answer is lost: the client does
 * not know, and sends again what is there already. The others strike wherever the server is.
 */
export class Course {
  readonly samples: MemorySample[] = [];
  /** Rejects where a restart failed or the replay hangs; never resolves. */
  readonly failed: Promise<never>;
  readonly #options: CourseOptions;
  readonly #killsAt: number[];
  #fail!: (error: Error) => void;
  #upkeep: Promise<void> = Promise.resolve();
  #sampling = false;
  #fired = 0;
  #durable = 0;
  #done = 0;
  #kills = 0;
  #up = true;
  #downMs = 0;
  #patience: Cancellable | undefined;

  constructor(options: CourseOptions) {
    this.#options = options;
    this.#killsAt = [...options.killsAt];
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined);
    this.#wait();
  }

  get kills(): number {
    return this.#kills;
  }

  /** Time from kills until something was handled again, ms. */
  get downMs(): number {
    return this.#downMs;
  }

  /** One more event is on its way. */
  fired(): void {
    this.#fired += 1;
  }

  /** One more append is known to be durable. */
  durable(): void {
    this.#durable += 1;
    if (this.#durable !== this.#killsAt[0]) return;
    const planned = this.#options.killsAt.length - this.#killsAt.length;
    this.#killsAt.shift();
    const moment = planned % 2 === 0 ? this.#answerLost() : Promise.resolve();
    this.#keep(() => this.#kill(moment));
  }

  /** One more event is handled. */
  handled(): void {
    this.#done += 1;
    this.#wait();
    if (this.#done % this.#options.sampleEvery === 0) this.#plan();
    this.#tell();
  }

  /** Resolves when kills and samples that were begun have ended. */
  async end(): Promise<void> {
    await this.#upkeep;
    this.#patience?.cancel();
  }

  /** Where every append was answered, the next frame is what is lost. */
  #answerLost(): Promise<void> {
    return this.#options.wires.deafen((text) => isAnswer(text) || this.#fired === this.#durable);
  }

  async #kill(moment: Promise<void>): Promise<void> {
    await moment;
    const start = systemClock.monotonic();
    this.#kills += 1;
    this.#up = false;
    this.#tell();
    await this.#options.server.killAndRestart();
    this.#up = true;
    this.#downMs += systemClock.monotonic() - start;
    this.#tell();
  }

  /** One sample at a time: those that a busy server is behind with would hold a kill back. */
  #plan(): void {
    if (this.#sampling) return;
    this.#sampling = true;
    this.#keep(() => this.#sample().finally(() => (this.#sampling = false)));
  }

  async #sample(): Promise<void> {
    const { server } = this.#options;
    const done = this.#done;
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    const clientHeapBytes = globalThis.gc === undefined ? undefined : heapUsed + external;
    this.samples.push({ done, life: server.life, server: await server.usage(), clientHeapBytes });
  }

  /** One after the other: a process that is being killed answers no question. */
  #keep(work: () => Promise<void>): void {
    this.#upkeep = this.#upkeep.then(work).catch((error: Error) => this.#fail(error));
  }

  #wait(): void {
    const { stallMs, server } = this.#options;
    this.#patience?.cancel();
    this.#patience = systemClock.timer(stallMs, () => {
      const at = `${this.#done} events handled, ${this.#durable} appends durable`;
      const said = server.output.slice(-2_000);
      this.#fail(new Error(`nothing was handled for ${stallMs} ms (${at}); the server:\n${said}`));
    });
  }

  #tell(): void {
    const { total, onProgress } = this.#options;
    onProgress({ done: this.#done, total, kills: this.#kills, up: this.#up });
  }
}
