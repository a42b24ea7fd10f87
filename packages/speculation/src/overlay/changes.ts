import type { InstanceKey, JsonValue } from "@tidemark/protocol";

/** How a visible document moved when layers came or went; the shape that the scheduler is told. */
export interface OverlayChange {
  readonly key: InstanceKey;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Remembers what documents looked like before layers on them moved. */
export class ChangeLog {
  readonly #read: (key: InstanceKey) => JsonValue | undefined;
  readonly #before = new Map<InstanceKey, JsonValue | undefined>();

  constructor(read: (key: InstanceKey) => JsonValue | undefined) {
    this.#read = read;
  }

  /** To be called before a layer on the key comes or goes. */
  touch(key: InstanceKey): void {
    if (!this.#before.has(key)) this.#before.set(key, this.#read(key));
  }

  /** The documents whose visible value is another one now. */
  take(): readonly OverlayChange[] {
    const changes: OverlayChange[] = [];
    for (const [key, before] of this.#before) {
      const after = this.#read(key);
      if (after !== before) changes.push({ key, before, after });
    }
    this.#before.clear();
    return changes;
  }
}
