/** The last that something holds for. */
export function last<T>(items: readonly T[], holds: (item: T) => boolean): T | undefined {
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (item !== undefined && holds(item)) return item;
  }
  return undefined;
}
