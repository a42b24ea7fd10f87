import type { ProgressOut } from "../replay/progress-line.js";

const LINE_EVERY_PERCENT = 10;
const CLEAR = "\r\u001B[2K";

/** Shows how far many seeds are: one line that is written over at a terminal, a line each tenth elsewhere. */
export class SeedProgress {
  readonly #out: ProgressOut;
  readonly #total: number;
  readonly #now: () => number;
  readonly #start: number;
  #done = 0;
  #failed = 0;
  #told = 0;

  constructor(out: ProgressOut, total: number, now: () => number) {
    this.#out = out;
    this.#total = total;
    this.#now = now;
    this.#start = now();
  }

  /** A seed has ended. */
  seed(seed: number, failed: boolean): void {
    this.#done += 1;
    if (failed) this.#failed += 1;
    if (this.#out.isTTY === true) {
      this.#out.write(`${CLEAR}${this.#text(seed)}`);
      return;
    }
    const percent = Math.floor((this.#done * 100) / this.#total);
    const tenth = percent - (percent % LINE_EVERY_PERCENT);
    if (tenth <= this.#told) return;
    this.#told = tenth;
    this.#out.write(`${this.#text(seed)}\n`);
  }

  /** Something else than seeds takes its time. */
  say(text: string): void {
    if (this.#out.isTTY === true) this.#out.write(`${CLEAR}${text}`);
  }

  /** Makes room for what is printed. */
  clear(): void {
    if (this.#out.isTTY === true) this.#out.write(CLEAR);
  }

  #text(seed: number): string {
    const seconds = (this.#now() - this.#start) / 1_000;
    const rate = seconds > 0 ? this.#done / seconds : 0;
    const left = rate > 0 ? `, ${timeOf((this.#total - this.#done) / rate)} left` : "";
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : "";
    return `seed ${seed}: ${this.#done} of ${this.#total}${failed}, ${rate.toFixed(1)} seeds/s${left}`;
  }
}

const MINUTE_S = 60;
const HOUR_S = 3_600;

/** A stretch of time in its two greatest units. */
function timeOf(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < MINUTE_S) return `${whole} s`;
  const minutes = Math.floor(whole / MINUTE_S);
  if (whole < HOUR_S) return `${minutes} min ${whole % MINUTE_S} s`;
  return `${Math.floor(minutes / MINUTE_S)} h ${minutes % MINUTE_S} min`;
}
