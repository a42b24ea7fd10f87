import type {
  EffectFailure,
  EffectRequest,
  HandlerOutcome,
  Pattern,
  Piece,
  Readable,
} from "@tidemark/runtime";
import { createTestSpace, type FireOptions, type TestSpace } from "@tidemark/runtime/testing";

/** A piece in a space of its own, everything it shows demanded: for tests of patterns. */
export interface Stage {
  readonly space: TestSpace;
  readonly piece: Piece;
  /** Handles an event and lets everything settle. */
  fire(handler: string, payload?: unknown, options?: FireOptions): Promise<HandlerOutcome>;
  /** What a watcher sees under a name of the result, or of a node. */
  see(name: string): unknown;
  /** What an effectful node asks for and has no answer to; `undefined` where it waits for nothing. */
  asked(name: string): Readonly<Record<string, EffectRequest["request"]>> | undefined;
  /** Answers an effectful node, as a server would. */
  answer(name: string, result: EffectRequest["request"]): Promise<void>;
  /** Fails what an effectful node asks for. */
  fail(name: string, failure: EffectFailure): Promise<void>;
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
    // Every built-in's request is an object by its schema.
    asked: (name) => space.asked(named(name).link.id)?.request as ReturnType<Stage["asked"]>,
    async answer(name, result) {
      space.answer(named(name).link.id, result);
      await space.settle();
    },
    async fail(name, failure) {
      space.failEffect(named(name).link.id, failure);
      await space.settle();
    },
  };
}

/** Somebody else than the test space's own user. */
export function asUser(user: string): FireOptions {
  return { actor: { user: user as never, session: "tab" as never } };
}
