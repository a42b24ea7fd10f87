import type { InstanceKey } from "@tidemark/protocol";
import { Scheduler, type NodeHandle, type NodeSpec, type ReadEntry } from "@tidemark/scheduler";

/**
 * The regular scheduler, and beside it: the documents that nodes read are known, so that the replica
 * keeps those, hears of their changes, and may forget the others.
 */
export class ServingScheduler extends Scheduler {
  readonly #readers = new ReadersOfDocuments();

  override register(spec: NodeSpec): NodeHandle {
    const reader: Reader = { handle: undefined };
    const handle = super.register({
      ...spec,
      run: () => {
        const outcome = spec.run();
        this.#readers.replace(reader, outcome.reads);
        return outcome;
      },
    });
    reader.handle = handle;
    this.#readers.know(handle, reader);
    return handle;
  }

  override subscribeClean(handle: NodeHandle, reads: readonly ReadEntry[]): void {
    super.subscribeClean(handle, reads);
    const reader = this.#readers.of(handle);
    if (reader !== undefined) this.#readers.replace(reader, reads);
  }

  /** Whether some registered node's last run read the instance. A removed node's reads may linger. */
  isRead(key: InstanceKey): boolean {
    return this.#readers.has(key);
  }

  /** Dirties whoever read the instance, whatever its value: its load had failed and would succeed now. */
  rearmReaders(key: InstanceKey): void {
    for (const handle of this.#readers.handlesOf(key)) this.rearm(handle);
  }

  /** Forgets what removed nodes read. Proportional to what all nodes read: for quiet moments. */
  forgetRemoved(): void {
    this.#readers.sweep();
  }
}

interface Reader {
  handle: NodeHandle | undefined;
}

/** Counts readers per document instance. */
class ReadersOfDocuments {
  readonly #byHandle = new WeakMap<NodeHandle, Reader>();
  readonly #reads = new Map<Reader, ReadonlySet<InstanceKey>>();
  readonly #counts = new Map<InstanceKey, number>();

  know(handle: NodeHandle, reader: Reader): void {
    this.#byHandle.set(handle, reader);
  }

  of(handle: NodeHandle): Reader | undefined {
    return this.#byHandle.get(handle);
  }

  has(key: InstanceKey): boolean {
    return this.#counts.has(key);
  }

  /** Proportional to what all nodes read. */
  handlesOf(key: InstanceKey): readonly NodeHandle[] {
    const handles: NodeHandle[] = [];
    for (const [{ handle }, keys] of this.#reads) {
      if (handle?.registered === true && keys.has(key)) handles.push(handle);
    }
    return handles;
  }

  replace(reader: Reader, reads: readonly ReadEntry[]): void {
    const next = new Set(reads.map(({ key }) => key));
    const before = this.#reads.get(reader);
    this.#reads.set(reader, next);
    for (const key of next) if (before?.has(key) !== true) this.#add(key, 1);
    for (const key of before ?? []) if (!next.has(key)) this.#add(key, -1);
  }

  sweep(): void {
    for (const [reader, keys] of this.#reads) {
      if (reader.handle?.registered !== false) continue;
      this.#reads.delete(reader);
      for (const key of keys) this.#add(key, -1);
    }
  }

  #add(key: InstanceKey, by: 1 | -1): void {
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
