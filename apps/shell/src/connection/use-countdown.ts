import { systemClock } from "@tidemark/protocol";
import { useEffect, useState } from "preact/hooks";

const STEP_MS = 1000;

/** Milliseconds left of a wait, second by second. A new `wait` object begins anew. */
export function useCountdown(wait: { readonly retryInMs?: number }): number {
  const [left, setLeft] = useState(wait.retryInMs ?? 0);
  useEffect(() => {
    const end = systemClock.monotonic() + (wait.retryInMs ?? 0);
    let timer: { cancel(): void } | undefined;
    const step = (): void => {
      const now = Math.max(0, end - systemClock.monotonic());
      setLeft(now);
      timer = now > 0 ? systemClock.timer(Math.min(STEP_MS, now), step) : undefined;
    };
    step();
    return () => timer?.cancel();
  }, [wait]);
  return left;
}
