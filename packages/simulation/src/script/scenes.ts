import type { Action } from "../model/action.js";
import { EMPTY, type ModelState } from "../model/state.js";
import { step } from "../model/step.js";

/** One action of a way, between the states that it leads from and to. */
export interface Scene {
  readonly action: Action;
  readonly before: ModelState;
  readonly after: ModelState;
}

/**
 * A way of the model in the order in which a real system can go it: a process starts when it first acts, and what people
 * do waits for a process that admits it. Both change nothing for the model. Undefined where nobody ever admits it.
 */
export function scenesOf(path: readonly Action[]): readonly Scene[] | undefined {
  const order = admittedLast(startedLast(path));
  return order && stepped(order);
}

function startedLast(path: readonly Action[]): readonly Action[] {
  const waiting = new Map<string, Action>();
  const order: Action[] = [];
  for (const action of path) {
    if (action.do === "start") {
      waiting.set(action.process, action);
      continue;
    }
    const start = "process" in action ? waiting.get(action.process) : undefined;
    if (start !== undefined && "process" in action) {
      order.push(start);
      waiting.delete(action.process);
    }
    order.push(action);
  }
  return [...order, ...waiting.values()];
}

function admittedLast(path: readonly Action[]): readonly Action[] | undefined {
  const admitting = new Set<string>();
  const order: Action[] = [];
  let waiting: Action[] = [];
  for (const action of path) {
    if (action.do === "crash" || action.do === "suspend") admitting.delete(action.process);
    if ((action.do === "append" || action.do === "write") && admitting.size === 0) {
      waiting.push(action);
      continue;
    }
    order.push(action);
    if (action.do !== "acquire") continue;
    admitting.add(action.process);
    order.push(...waiting);
    waiting = [];
  }
  return waiting.length === 0 ? order : undefined;
}

function stepped(order: readonly Action[]): readonly Scene[] | undefined {
  const scenes: Scene[] = [];
  let before = EMPTY;
  for (const action of order) {
    const result = step(before, action);
    if (!result.ok) return undefined;
    scenes.push({ action, before, after: result.state });
    before = result.state;
  }
  return scenes;
}
