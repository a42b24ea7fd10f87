import { isHandle } from "../cell/handle.js";
import type { Computed, Value } from "../cell/types.js";
import { computed } from "../computed/computed.js";

/** A handle, or a function that is asked when its value is needed. */
export type Source<T> = Value<T> | (() => T);

/** Values that count as no. */
type Falsy = false | 0 | "" | null | undefined;

/** One of two values: only the chosen one is read, so a change of the other runs nothing. */
export function ifElse<A, B>(
  name: string,
  condition: Source<unknown>,
  then: Source<A>,
  otherwise: Source<B>,
): Computed<A | B> {
  return computed<A | B>(name, () =>
    valueOf(condition) ? valueOf<A>(then) : valueOf<B>(otherwise),
  );
}

/** The value where the condition holds, else the condition's own value: `condition && value`. */
export function when<C, T>(
  name: string,
  condition: Source<C>,
  value: Source<T>,
): Computed<T | Extract<C, Falsy>> {
  return computed(name, () => {
    const held = valueOf(condition);
    return held ? valueOf(value) : (held as Extract<C, Falsy>);
  });
}

/** The condition's own value where it holds, else the other value: `condition || value`. */
export function unless<C, T>(
  name: string,
  condition: Source<C>,
  value: Source<T>,
): Computed<T | Exclude<C, Falsy>> {
  return computed(name, () => {
    const held = valueOf(condition);
    return held ? (held as Exclude<C, Falsy>) : valueOf(value);
  });
}

/** Reads a source. */
export function valueOf<T>(source: Source<T>): T {
  return isHandle(source) ? (source.get() as T) : (source as () => T)();
}
