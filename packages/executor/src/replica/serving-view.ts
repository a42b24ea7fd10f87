import type { InstanceKey, LayeredView, SpaceId } from "@tidemark/protocol";
import { FrameError } from "@tidemark/protocol";
import type { ReadState, StateView } from "@tidemark/runtime";

/**
 * Where served runs read: the open wave over the replica (R25). While a handler's body runs, the
 * instances it reads are traced, so that a body that throws still has its read set.
 */
export class ServingView implements StateView {
  readonly #layers: LayeredView;
  readonly #space: SpaceId;
  readonly #missing: (key: InstanceKey) => Exclude<ReadState, { state: "held" }> | undefined;
  #trace: Set<InstanceKey> | undefined;

  /** `missing` says why an instance is not held. */
  constructor(
    space: SpaceId,
    layers: LayeredView,
    missing: (key: InstanceKey) => Exclude<ReadState, { state: "held" }> | undefined = () =>
      undefined,
  ) {
    this.#space = space;
    this.#layers = layers;
    this.#missing = missing;
  }

  read(key: InstanceKey, space?: SpaceId): ReadState {
    if (space !== undefined && space !== this.#space)
      return { state: "failed", error: foreign(space) };
    this.#trace?.add(key);
    const held = this.#layers.get(key);
    if (held === undefined) return this.#missing(key) ?? { state: "pending" };
    const { value, seq } = held;
    return this.#layers.has(key)
      ? { state: "held", value, seq, unconfirmed: true }
      : { state: "held", value, seq };
  }

  /** Traces into `into` until the next call; `undefined` ends it. */
  trace(into: Set<InstanceKey> | undefined): void {
    this.#trace = into;
  }
}

function foreign(space: SpaceId): FrameError {
  return new FrameError(
    `reading ${space} from another space is not served yet; keep what the pattern reads in one space`,
    { builtin: "link" },
  );
}
