import { systemClock } from "@tidemark/protocol";

/** Resolves after `ms`. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.timer(ms, resolve);
  });
}

const LOOK_EVERY_MS = 20;

/** Resolves once `holds()`; looks every 20 ms. @throws Error after `withinMs`. */
export async function until(what: string, withinMs: number, holds: () => boolean): Promise<void> {
  const end = systemClock.monotonic() + withinMs;
  while (!holds()) {
    if (systemClock.monotonic() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await pause(LOOK_EVERY_MS);
  }
}
