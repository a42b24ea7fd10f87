/** One line of the report. */
export interface Row {
  readonly figure: string;
  readonly unit: string;
  /** Absent where it could not be measured; `note` says why. */
  readonly ours: number | undefined;
  /** What stands beside it, measured in the same run. */
  readonly yardstick?: number;
  readonly ratio?: number;
  /** What is to be reached, in words. */
  readonly target: string;
  /** Absent where it could not be judged. */
  readonly met: boolean | undefined;
  readonly note?: string;
}

/** Whether every row that could be judged is met. */
export function allMet(rows: readonly Row[]): boolean {
  return rows.every(({ met }) => met !== false);
}
