import type { HandlerOutcome, Pattern, Piece, Readable } from "@tidemark/runtime";
import { createTestSpace, type FireOptions, type TestSpace } from "@tidemark/runtime/testing";

/** A piece in a space of its own, everything it shows demanded: for tests of patterns. */
export interface Stage {
  readonly space: TestSpace;
  readonly piece: Piece;
  /** Handles an event and lets everything settle. */
  fire(handler: string, payload?: unknown, options?: FireOptions): Promise<HandlerOutcome>;
  /** What a watcher sees under a name of the result, or of a node. */
  see(name: string): unknown;
}

/** Puts a pattern on a stage of its own. */
export async function stage(pattern: Pattern, argument?: unknown): Promise<Stage> {
  const space = createTestSpace();
  const piece = space.start(pattern, argument);
  for (const node of piece.nodes.values()) {
    if (node.kind !== "handler") await space.demand(node.id);
  }
  const named = (name: string): Readable<unknown> => {
    const value = piece.value(name);
    if (value === undefined) throw new Error(`no value ${name}`);
    return value;
  };
  return {
    space,
    piece,
    async fire(handler, payload = null, options = {}) {
      const stream = piece.stream(handler);
      if (stream === undefined) throw new Error(`no handler ${handler}`);
      const outcome = await space.fire(stream.link.id, payload as never, options);
      await space.settle();
      return outcome;
    },
    see: (name) => space.runtime.read(named(name)),
  };
}

/** Somebody else than the test space's own user. */
export function asUser(user: string): FireOptions {
  return { actor: { user: user as never, session: "tab" as never } };
}
