import type { DocId, JsonValue, Principal, Seq } from "@tidemark/protocol";

/** A registered pattern by its name. */
export interface PatternName {
  readonly id: string;
  readonly version: string;
}

/** Makes a piece, as a client's `create` does: its document is written, and the loop makes the rest. */
export interface CreateVerb {
  readonly verb: "create";
  /** Who asks: they must be allowed to write in the space. */
  readonly principal: Principal;
  readonly pattern: PatternName;
  readonly argument?: unknown;
  /**
   * What the piece's id is made of: the same cause asks for the same piece, and one that stands stays as
   * it is. Without one each request is a piece of its own.
   */
  readonly cause?: JsonValue;
}

/** Points a piece at another pattern, or another version of its own, as a client's `swap` does. */
export interface SetSourceVerb {
  readonly verb: "setsrc";
  /** Who asks: they must be allowed to write in the space. */
  readonly principal: Principal;
  readonly piece: DocId;
  readonly pattern: PatternName;
  /** Asked again by the same principal under the same cause, nothing moves, whatever became of the piece since. */
  readonly cause?: JsonValue;
}

/** What may be asked of a space's pieces beside what sessions write (seed 001 §1). */
export type LifecycleVerb = CreateVerb | SetSourceVerb;

/** How a verb ended. */
export interface LifecycleResult {
  /** The commit that holds what was asked for: this request's, or the one that held it before. */
  readonly seq: Seq;
  readonly piece: DocId;
  /** Whether this request wrote it; false where it stood already. */
  readonly changed: boolean;
}
