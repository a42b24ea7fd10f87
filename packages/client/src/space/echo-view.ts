import type { Held, InstanceKey, SpaceId } from "@tidemark/protocol";
import type { ReadState, StateView } from "@tidemark/runtime";
import type { Overlay } from "@tidemark/speculation";

const PENDING: ReadState = { state: "pending" };

/** Where a client's runs read: the overlay over what is known. Other spaces are pending. */
export class EchoView implements StateView {
  readonly #overlay: Overlay;
  readonly #space: SpaceId;
  #recorded: Set<InstanceKey> | undefined;

  constructor(overlay: Overlay, space: SpaceId) {
    this.#overlay = overlay;
    this.#space = space;
  }

  read(key: InstanceKey, space?: SpaceId): ReadState {
    if (space !== undefined && space !== this.#space) return PENDING;
    this.#recorded?.add(key);
    const state = stateOf(this.#overlay.view.get(key));
    if (state.state !== "held" || !this.#overlay.isSpeculative(key)) return state;
    const confirmed = stateOf(this.#overlay.confirmed(key));
    return { ...state, unconfirmed: true, confirmed };
  }

  /** Starts noting what is read, for an echo whose end brings no read log of its own. */
  record(): Set<InstanceKey> {
    const recorded = new Set<InstanceKey>();
    this.#recorded = recorded;
    return recorded;
  }

  /** Notes something that an echo depends on beside documents. */
  note(key: InstanceKey): void {
    this.#recorded?.add(key);
  }

  stopRecording(): void {
    this.#recorded = undefined;
  }
}

function stateOf(held: Held | undefined): ReadState {
  return held === undefined ? PENDING : { state: "held", value: held.value, seq: held.seq };
}
