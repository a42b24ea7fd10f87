import type { TenureParts } from "./parts.js";
import type { TenureOptions } from "./tenure-options.js";

/**
 * Disposes the parts of a tenure, within `parkDisposeTimeoutMs`: one that hangs is abandoned and counted,
 * so that no park waits for it (LS-10). Never rejects.
 */
export async function disposeParts(
  parts: TenureParts | undefined,
  options: Pick<TenureOptions, "served" | "clock" | "policy" | "gates" | "stats" | "report">,
): Promise<void> {
  const { served, clock, policy, stats, report } = options;
  const { space } = served;
  let late = false;
  await new Promise<void>((resolve) => {
    const timer = clock.timer(policy.parkDisposeTimeoutMs, () => {
      late = true;
      resolve();
    });
    void dispose(parts, options).then(() => {
      timer.cancel();
      resolve();
    });
  });
  if (!late) return;
  stats.counts.disposeTimeouts += 1;
  report({ kind: "dispose-late", space, afterMs: policy.parkDisposeTimeoutMs });
}

/** Every step is tried, whatever an earlier one threw. */
async function dispose(
  parts: TenureParts | undefined,
  { served, gates, report }: Pick<TenureOptions, "served" | "gates" | "report">,
): Promise<void> {
  const { space } = served;
  const steps = [
    () => gates.pass("dispose:before", { space }),
    () => parts?.runtime.dispose(),
    () => parts?.scheduler.dispose(),
    () => parts?.replica.clear(),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      report({ kind: "tenure-failed", space, error });
    }
  }
}
