import type { ReplayProgress } from "./course.js";

const LINE_EVERY_PERCENT = 10;
/** At a terminal the line is written over each so many events. */
const REDRAW_EVERY = 64;

/** Where progress is written. */
export interface ProgressOut {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows how far a replay is: one line that is written over at a terminal, a line every tenth elsewhere. */
export class ProgressLine {
  readonly #out: ProgressOut;
  readonly #name: string;
  readonly #now: () => number;
  readonly #start: number;
  #told = 0;
  #lastKills = 0;
  #lastUp = true;

  constructor(out: ProgressOut, name: string, now: () => number) {
    this.#out = out;
    this.#name = name;
    this.#now = now;
    this.#start = now();
  }

  show(progress: ReplayProgress): void {
    const { done, total, kills, up } = progress;
    const turned = kills !== this.#lastKills || up !== this.#lastUp;
    this.#lastKills = kills;
    this.#lastUp = up;
    if (this.#out.isTTY === true) {
      if (turned || done % REDRAW_EVERY === 0)
        this.#out.write(`\r\u001B[2K${this.#text(progress)}`);
      return;
    }
    const percent = Math.floor((done * 100) / total / LINE_EVERY_PERCENT) * LINE_EVERY_PERCENT;
    if (!turned && percent <= this.#told) return;
    this.#told = percent;
    this.#out.write(`${this.#text(progress)}\n`);
  }

  end(): void {
    if (this.#out.isTTY === true) this.#out.write("\r\u001B[2K");
  }

  #text({ done, total, kills, up }: ReplayProgress): string {
    const seconds = (this.#now() - this.#start) / 1_000;
    const share = `${Math.floor((done * 100) / total)} %`.padStart(5);
    const rate = seconds > 0 ? `, ${Math.round(done / seconds)}/s` : "";
    const killed = kills === 0 ? "" : `, killed ${kills}×${up ? "" : ", restarting"}`;
    return `${this.#name} ${share}  ${done} of ${total}${rate}${killed}`;
  }
}
