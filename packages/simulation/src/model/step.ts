import * as accesses from "./access-steps.js";
import type { Action } from "./action.js";
import * as drains from "./drain-steps.js";
import { LAW, type Law } from "./law.js";
import * as leases from "./lease-steps.js";
import * as processes from "./process-steps.js";
import type { Stepped } from "./result.js";
import type { ModelState } from "./state.js";
import * as stores from "./store-steps.js";
import * as waves from "./wave-steps.js";

type Steps = {
  readonly [Name in Action["do"]]: (
    state: ModelState,
    action: Extract<Action, { readonly do: Name }>,
    law: Law,
  ) => Stepped;
};

const STEPS: Steps = {
  append: stores.append,
  access: accesses.access,
  withhold: accesses.withhold,
  write: stores.write,
  tick: stores.tick,
  compact: stores.compact,
  acquire: leases.acquire,
  renew: leases.renew,
  release: leases.release,
  steal: leases.steal,
  activate: processes.activate,
  start: processes.start,
  crash: processes.crash,
  suspend: processes.suspend,
  resume: processes.resume,
  view: drains.view,
  drain: drains.drain,
  passOver: drains.passOver,
  drop: drains.drop,
  begin: drains.begin,
  beginCopy: drains.beginCopy,
  end: drains.end,
  seal: drains.seal,
  giveBack: drains.giveBack,
  settle: waves.settle,
  close: waves.close,
  commit: waves.commit,
  refuse: waves.refuse,
  abort: waves.abort,
  tell: waves.tell,
};

/** One step of the model: the next state, or why there is no such step. Pure. */
export function step(state: ModelState, action: Action, law: Law = LAW): Stepped {
  const work = STEPS[action.do] as (state: ModelState, action: Action, law: Law) => Stepped;
  return work(state, action, law);
}
