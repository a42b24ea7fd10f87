import { FrameError } from "@tidemark/protocol";
import type { CellAccess } from "../cell/access.js";
import type { BuildScope } from "../pattern/build-scope.js";
import type { EventScope } from "./event-scope.js";
import { guarded, unguarded } from "./host-guard.js";

/** What pattern code runs in at an instant. */
export type Frame =
  | { readonly kind: "body"; readonly label: string; readonly build: BuildScope }
  | { readonly kind: "computed"; readonly label: string; readonly access: CellAccess }
  | {
      readonly kind: "handler";
      readonly label: string;
      readonly access: CellAccess;
      readonly event: EventScope;
    }
  | { readonly kind: "edit"; readonly label: string; readonly access: CellAccess };

let current: Frame | undefined;

/** The frame of the code that runs now: only its synchronous part, never what follows an `await`. */
export function currentFrame(): Frame | undefined {
  return current;
}

/** Runs code of a pattern in a frame. An imperative edit is not pattern code and stays unguarded. */
export function runInFrame<T>(frame: Frame, body: () => T): T {
  const before = current;
  current = frame;
  try {
    return frame.kind === "edit" ? body() : guarded(body);
  } finally {
    current = before;
  }
}

/** Leaves the frame for the runtime's own work, which may run other frames meanwhile. */
export function outsideFrame<T>(body: () => T): T {
  const before = current;
  current = undefined;
  try {
    return unguarded(body);
  } finally {
    current = before;
  }
}

const WHERE =
  "it may be called in a handler, in its part before the first await; after an await use the handler's second argument: ctx";

/**
 * The event of the handler that runs now.
 *
 * @throws FrameError in a pattern body, a computed, after an `await` and outside every run.
 */
export function requireEvent(builtin: string): EventScope {
  if (current?.kind === "handler") return current.event;
  throw new FrameError(`${builtin}() may not be called ${placeOf(current)}: ${WHERE}`, { builtin });
}

/**
 * The definition that is being built.
 *
 * @throws FrameError anywhere but in the synchronous part of a pattern's `build`.
 */
export function requireBuild(builtin: string): BuildScope {
  if (current?.kind === "body") return current.build;
  const message = `${builtin}() may not be called ${placeOf(current)}: nodes are declared in the build function of a pattern, before any await`;
  throw new FrameError(message, { builtin });
}

/** Words for where code is, for messages. */
export function placeOf(frame: Frame | undefined): string {
  switch (frame?.kind) {
    case undefined:
      return "outside a run or after an await";
    case "body":
      return `in the body of ${frame.label}`;
    case "computed":
      return `in the computed ${frame.label}`;
    case "handler":
      return `in the handler ${frame.label}`;
    case "edit":
      return "in an edit";
  }
}
