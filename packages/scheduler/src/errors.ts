import { TidemarkError } from "@tidemark/protocol";

/**
 * A computation needs its own result. `details.path` names the members in the order in which each needed the next;
 * the last repeats the first. Break the cycle in the pattern: one of the members must stop reading the other.
 */
export class CycleError extends TidemarkError<{ readonly path: readonly string[] }> {
  override readonly name = "CycleError";
  override readonly code = "cycle";

  constructor(path: readonly string[]) {
    super(`Cycle: ${path.join(" -> ")}. One of these must stop reading the next.`, { path });
  }
}

/**
 * Thrown out of {@link Scheduler.pull} when nested first runs became too deep for the stack. The run that sees it must
 * end; the scheduler runs the missing input on its own and then runs the run again. User code never needs to catch it.
 */
export class PullDeferredError extends TidemarkError<{ readonly key: string }> {
  override readonly name = "PullDeferredError";
  override readonly code = "pull-deferred";

  constructor(key: string) {
    super(
      `The writer of ${key} has not run yet and is too deep to run here. It runs first, then this runs again.`,
      {
        key,
      },
    );
  }
}

/** Two actions want what only one may have: a key to write, or a durable identity. */
export class RegistrationError extends TidemarkError<{
  readonly action: string;
  readonly instance: string;
}> {
  override readonly name = "RegistrationError";
  override readonly code = "registration";
}
