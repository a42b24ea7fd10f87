import type { JsonValue } from "@tidemark/protocol";
import type { Pattern, PatternResult } from "@tidemark/runtime";

/** What a pattern shows of itself. */
export type ResultOf<P> = P extends Pattern<infer _A, infer R> ? R : PatternResult;

/** The argument that a pattern takes. */
export type ArgumentOf<P> = P extends Pattern<infer A, infer _R> ? A : unknown;

/** The value behind a handle of a pattern's result. */
export type ValueOf<H> = unknown extends H ? JsonValue : H extends { get(): infer T } ? T : never;

/** The payload that a stream of a pattern's result takes. */
export type PayloadOf<H> = unknown extends H
  ? unknown
  : H extends { send(payload: infer P): void }
    ? P
    : never;

/** Names of what has a value. */
export type ValueName<R> = {
  [K in keyof R & string]: unknown extends R[K] ? K : R[K] extends { get(): unknown } ? K : never;
}[keyof R & string];

/** Names of what takes events. */
export type StreamName<R> = {
  [K in keyof R & string]: unknown extends R[K]
    ? K
    : R[K] extends { send(payload: never): void }
      ? K
      : never;
}[keyof R & string];

/** Names of what can be edited. */
export type CellName<R> = {
  [K in keyof R & string]: unknown extends R[K]
    ? K
    : R[K] extends { set(value: never): void }
      ? K
      : never;
}[keyof R & string];

/** The payload as arguments: none where a handler takes none. */
export type PayloadArgs<P> = unknown extends P
  ? [payload?: unknown]
  : undefined extends P
    ? [payload?: P]
    : [payload: P];
