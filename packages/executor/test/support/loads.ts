import type { Held, InstanceKey, SpaceId } from "@tidemark/protocol";
import type { DocumentLoads, LoadAnswer, LoadNews } from "../../src/index.js";

/** Loads that a test holds up and fails, over the real store. */
export class HeldLoads implements DocumentLoads {
  readonly asked: InstanceKey[] = [];
  readonly #answers = new Map<InstanceKey, LoadAnswer>();
  readonly #listeners = new Set<(news: LoadNews) => void>();

  load(_space: SpaceId, key: InstanceKey, read: () => Held): LoadAnswer {
    this.asked.push(key);
    return this.#answers.get(key) ?? { state: "held", held: read() };
  }

  watch(_space: SpaceId, fn: (news: LoadNews) => void): { close(): void } {
    this.#listeners.add(fn);
    return { close: () => void this.#listeners.delete(fn) };
  }

  /** Who listens now. */
  get listeners(): number {
    return this.#listeners.size;
  }

  hold(key: InstanceKey): void {
    this.#forget(key, { state: "pending" });
  }

  fail(key: InstanceKey, error: unknown): void {
    this.#forget(key, { state: "failed", error });
  }

  settle(key: InstanceKey): void {
    this.#answers.delete(key);
    for (const listener of this.#listeners) listener({ kind: "settled", keys: [key] });
  }

  #forget(key: InstanceKey, answer: LoadAnswer): void {
    this.#answers.set(key, answer);
    for (const listener of this.#listeners) listener({ kind: "forgotten", keys: [key] });
  }
}
