import type { Seq, SpaceId } from "@tidemark/protocol";
import { NotServedError, type NotServedReason } from "./errors.js";
import type { PreparedVerb } from "./prepare.js";
import type { LifecycleResult } from "./verbs.js";

/** One verb that somebody asked for, and its answer: the first one stands. */
export class VerbRequest {
  readonly space: SpaceId;
  readonly verb: PreparedVerb;
  readonly answer: Promise<LifecycleResult>;
  /** The commit that it made, though it has not settled. */
  landed: Seq | undefined;
  #resolve: (result: LifecycleResult) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(space: SpaceId, verb: PreparedVerb) {
    this.space = space;
    this.verb = verb;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  settle(seq: Seq, changed: boolean): void {
    this.#resolve({ seq, piece: this.verb.piece, changed });
  }

  refuse(error: unknown): void {
    this.#reject(error);
  }

  /** Nobody serves it any more: whoever asked may ask again (seed 001 §2). */
  notServed(reason: NotServedReason, cause?: unknown): void {
    const { space, verb, landed } = this;
    const message = `${verb.verb} of ${verb.piece} was not served in ${space} (${reason}); ask again under the same cause`;
    const details = landed === undefined ? { space, reason } : { space, reason, landed };
    this.#reject(new NotServedError(message, details, { cause }));
  }
}
