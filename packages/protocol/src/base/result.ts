/** Success or a typed refusal, for functions whose refusals are ordinary outcomes. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** A success. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** A refusal. */
export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** The value of a success; throws the error of a refusal. */
export function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw result.error;
  return result.value;
}
