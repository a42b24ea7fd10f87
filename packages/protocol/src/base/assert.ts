/** A broken internal invariant. It means a defect in this code, never bad input. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** Throws {@link InvariantError} unless `condition` holds; narrows its type otherwise. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** The default branch of an exhaustive switch: the compiler proves it unreachable, the run confirms. */
export function unreachable(value: never): never {
  throw new InvariantError(`Unreachable case: ${describe(value)}`);
}

/** Returns `value`, or throws {@link InvariantError} when it is null or undefined. */
export function must<T>(value: T | null | undefined, message = "Expected a value"): T {
  if (value === null || value === undefined) throw new InvariantError(message);
  return value;
}

function describe(value: unknown): string {
  try {
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  } catch {
    return typeof value;
  }
}
