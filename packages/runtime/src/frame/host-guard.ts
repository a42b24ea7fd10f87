import { FrameError } from "@tidemark/protocol";

/*
 * `Date.now` and `Math.random` throw inside pattern frames (builtins.md). The host's functions are
 * replaced while any frame is on the stack and put back exactly when the last one leaves. Inside a
 * frame a flag tells pattern code from the runtime's own work on its behalf (a view that loads, a
 * scheduler that measures), which still gets the real functions.
 */

interface Patched {
  readonly owner: object;
  readonly name: string;
  readonly original: (...args: never[]) => unknown;
}

// oxlint-disable-next-line no-restricted-globals -- this file is what keeps others from it
const HOST_DATE = Date;

const TARGETS = [
  { owner: HOST_DATE, name: "now", instead: "now() in a handler" },
  { owner: Math, name: "random", instead: "random() in a handler" },
] as const;

let depth = 0;
let inside = false;
let patched: Patched[] = [];

/** Whether pattern code is running at this instant. */
export function insidePattern(): boolean {
  return inside;
}

/** Runs pattern code with the guard up. Frames nest; what stood before stands again afterwards. */
export function guarded<T>(body: () => T): T {
  const before = inside;
  if (depth === 0) install();
  depth += 1;
  inside = true;
  try {
    return body();
  } finally {
    inside = before;
    depth -= 1;
    if (depth === 0) restore();
  }
}

/** Runs the runtime's own work for pattern code, with the guard down. */
export function unguarded<T>(body: () => T): T {
  const before = inside;
  inside = false;
  try {
    return body();
  } finally {
    inside = before;
  }
}

function install(): void {
  patched = [];
  for (const target of TARGETS) {
    const { owner, name } = target;
    const original = Reflect.get(owner, name) as Patched["original"];
    // Assignment keeps the property's attributes. A host that froze the object refuses it: then
    // the lint rule is what is left.
    if (Reflect.set(owner, name, guardOf(target, original)))
      patched.push({ owner, name, original });
  }
}

/** One for each function of the host's, however often a frame is entered. */
const guards = new WeakMap<Patched["original"], Patched["original"]>();

function guardOf({ owner, instead }: (typeof TARGETS)[number], original: Patched["original"]) {
  const known = guards.get(original);
  if (known !== undefined) return known;
  const guard = function (this: unknown, ...args: never[]): unknown {
    if (!inside) return Reflect.apply(original, this, args);
    const what = owner === HOST_DATE ? "Date.now()" : "Math.random()";
    const message = `${what} is not allowed in pattern code: a run must give the same result when it is repeated; use ${instead}`;
    throw new FrameError(message, { builtin: what });
  };
  guards.set(original, guard);
  return guard;
}

function restore(): void {
  for (const { owner, name, original } of patched) Reflect.set(owner, name, original);
  patched = [];
}
