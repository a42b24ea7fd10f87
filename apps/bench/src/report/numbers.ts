/** The value in the middle of the sorted values; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = sortedOf(values);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  return (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/**
 * The smallest value that at least `p` percent of the values do not exceed (nearest position); NaN for none.
 *
 * @param p 0 to 100.
 */
export function percentile(values: readonly number[], p: number): number {
  const sorted = sortedOf(values);
  const position = Math.max(1, Math.ceil((p / 100) * sorted.length));
  return sorted[position - 1] ?? Number.NaN;
}

/** Half of the distance between the smallest and the largest value: what "flat to ± x" means. */
export function halfSpread(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  return (Math.max(...values) - Math.min(...values)) / 2;
}

/** A number as a person reads it: three digits that count, thousands apart. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "?";
  if (Math.abs(value) >= 100) {
    return Math.round(value)
      .toString()
      .replaceAll(/\B(?=(\d{3})+(?!\d))/gu, ",");
  }
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(4, digits));
}

function sortedOf(values: readonly number[]): number[] {
  const sorted = [...values];
  sorted.sort((a, b) => a - b);
  return sorted;
}
