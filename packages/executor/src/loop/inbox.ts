import type { ServedSpace, Subscription } from "@tidemark/memory-engine";
import type { AcceptedCommit, Seq } from "@tidemark/protocol";

/** Accepted commits that the replica has not applied yet, in seq order (R19). */
export class Inbox {
  readonly #served: Pick<ServedSpace, "feed" | "refresh">;
  readonly #onCommit: (commit: AcceptedCommit) => void;
  #subscription: Subscription | undefined;
  #commits: AcceptedCommit[] = [];

  constructor(
    served: Pick<ServedSpace, "feed" | "refresh">,
    onCommit: (commit: AcceptedCommit) => void,
  ) {
    this.#served = served;
    this.#onCommit = onCommit;
  }

  /** Subscribes from the head that the activation read the store at (seed 001 §6). */
  open(from: Seq): void {
    this.#subscription = this.#served.feed(from, (commit) => {
      this.#commits.push(commit);
      this.#onCommit(commit);
    });
  }

  get isEmpty(): boolean {
    return this.#commits.length === 0;
  }

  /** Looks for commits of other processes. */
  refresh(): void {
    this.#served.refresh();
  }

  take(): readonly AcceptedCommit[] {
    const taken = this.#commits;
    this.#commits = [];
    return taken;
  }

  close(): void {
    this.#subscription?.close();
    this.#subscription = undefined;
  }
}
