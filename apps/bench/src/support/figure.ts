import type { Progress } from "../report/progress.js";
import type { Row } from "../report/row.js";

/** What a figure is measured with. */
export interface BenchContext {
  readonly quick: boolean;
  /** The folder with the recorded data; absent where there is none. */
  readonly dataDir: string | undefined;
  readonly progress: Progress;
  /** A new folder that is removed when the run ends. */
  folder(): string;
}

/** One figure of the table. */
export interface Figure {
  readonly name: string;
  readonly about: string;
  measure(context: BenchContext): Promise<readonly Row[]>;
}
