import type { InstanceKey, Path, Seq, SpaceId } from "@tidemark/protocol";
import type { LoggedRead } from "../types.js";

/** The reads of one run, each place once. A read of a whole covers the reads of its parts. */
export class ReadLog {
  readonly #byKey = new Map<string, Map<string, LoggedRead>>();

  add(read: {
    readonly key: InstanceKey;
    readonly path: Path;
    readonly kind: "value" | "shape";
    readonly seq: Seq;
    readonly space?: SpaceId | undefined;
  }): void {
    const { key, path, kind, seq, space } = read;
    const document = space === undefined ? key : `${space} ${key}`;
    const reads = this.#byKey.get(document) ?? new Map<string, LoggedRead>();
    this.#byKey.set(document, reads);
    if (reads.has("v")) return;
    const place = placeKey(kind, path);
    if (reads.has(place)) return;
    if (place === "v") reads.clear();
    reads.set(
      place,
      space === undefined ? { key, path, kind, seq } : { key, path, kind, seq, space },
    );
  }

  all(): readonly LoggedRead[] {
    return [...this.#byKey.values()].flatMap((reads) => [...reads.values()]);
  }
}

/** "v" alone is the value of the whole document. */
function placeKey(kind: "value" | "shape", path: Path): string {
  const mark = kind === "value" ? "v" : "s";
  return path.length === 0 ? mark : mark + JSON.stringify(path);
}
