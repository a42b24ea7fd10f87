import { type Context, createContext, Script } from "node:vm";

/** Calls what the context holds; the host's interrupt reaches into it, regular expressions included. */
const call = new Script("run()");
const scope: { run?: () => unknown } = {};
let context: Context | undefined;

/**
 * Runs a synchronous function that may not end, on this thread, and interrupts it once `ms` real milliseconds have
 * gone. Calls do not nest.
 *
 * @throws what `fn` throws, and an error where it was interrupted.
 */
export function withinMs<T>(ms: number, fn: () => T): T {
  context ??= createContext(scope);
  scope.run = fn;
  try {
    return call.runInContext(context, { timeout: ms }) as T;
  } finally {
    delete scope.run;
  }
}
