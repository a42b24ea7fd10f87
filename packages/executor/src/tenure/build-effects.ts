import type { GateName } from "@tidemark/protocol";
import { storedMemo } from "@tidemark/runtime";
import { CompletionStep } from "../effects/completion-step.js";
import { EffectOutbox } from "../effects/outbox.js";
import type { TenureParts } from "./parts.js";
import type { TenureOptions } from "./tenure-options.js";

/** What leaves a tenure after its waves and comes back ahead of them, over its other parts. */
export function buildEffects(
  parts: Pick<TenureParts, "accumulator" | "coverage" | "scheduler" | "replica" | "binding">,
  options: TenureOptions,
  pass: (gate: GateName) => Promise<void> | undefined,
): EffectOutbox {
  const { served, holder, clock, stats, performers, budget, report } = options;
  const { accumulator, coverage, scheduler, replica, binding } = parts;
  const { space } = served;
  const { live, confirmLease, wake } = binding;
  return new EffectOutbox({
    space,
    clock,
    stats,
    performers,
    budget,
    completions: new CompletionStep({
      served,
      holder,
      accumulator,
      coverage,
      scheduler,
      stats,
      pass,
      live,
      confirmLease,
    }),
    pass,
    wake,
    selected: (target) => storedMemo(replica.get(target)?.value),
    stands: ({ action, instance }) => scheduler.node(action, instance)?.registered === true,
    reportFailure: (builtIn, { action }, error) =>
      report({ kind: "effect-failed", space, builtIn, action, error }),
  });
}
