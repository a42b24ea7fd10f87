/**
 * Does `count` things, `width` of them at a time, and resolves when all have ended. The next begins as one ends.
 *
 * @param act begins one; its promise rejects to end the whole.
 */
export function inFlight(
  count: number,
  width: number,
  act: (i: number) => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = 0;
    let ended = 0;
    const begin = (): void => {
      if (begun >= count) return;
      begun += 1;
      act(begun - 1).then(end, reject);
    };
    const end = (): void => {
      ended += 1;
      if (ended === count) resolve();
      else begin();
    };
    if (count === 0) resolve();
    for (let i = 0; i < Math.min(width, count); i += 1) begin();
  });
}
