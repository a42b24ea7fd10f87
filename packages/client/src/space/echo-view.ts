import { parseInstanceKey, scopeKindOf } from "@tidemark/protocol";
import type { DocId, Held, InstanceKey, Seq, SpaceId } from "@tidemark/protocol";
import type { ReadState, StateView } from "@tidemark/runtime";
import type { Overlay } from "@tidemark/speculation";

const NEVER_WRITTEN = 0 as Seq;
const PENDING: ReadState = { state: "pending" };
const ABSENT: ReadState = { state: "held", value: undefined, seq: NEVER_WRITTEN };

/**
 * Where a client's runs read: the overlay over the replica. An instance of the space that is not held
 * is pending; a user's or session's own instance that is not held is known to be absent, and so are
 * the nodes of a piece that only this client has made so far (speculation.md §What speculates).
 */
export class EchoView implements StateView {
  readonly #overlay: Overlay;
  readonly #space: SpaceId;
  readonly #unborn = new Set<DocId>();
  #recorded: Set<InstanceKey> | undefined;

  constructor(overlay: Overlay, space: SpaceId) {
    this.#overlay = overlay;
    this.#space = space;
  }

  read(key: InstanceKey, space?: SpaceId): ReadState {
    if (space !== undefined && space !== this.#space) return PENDING;
    this.#recorded?.add(key);
    const state = this.#stateOf(key, this.#overlay.view.get(key));
    if (state.state !== "held" || !this.#overlay.isSpeculative(key)) return state;
    const confirmed = this.#stateOf(key, this.#overlay.confirmed(key));
    return { ...state, unconfirmed: true, confirmed };
  }

  #stateOf(key: InstanceKey, held: Held | undefined): ReadState {
    if (held !== undefined) return { state: "held", value: held.value, seq: held.seq };
    const { id, scopeKey } = parseInstanceKey(key);
    return scopeKindOf(scopeKey) !== "space" || this.#unborn.has(id) ? ABSENT : PENDING;
  }

  /** Documents that cannot exist yet, since what they belong to is not in the store. */
  assumeAbsent(ids: Iterable<DocId>): void {
    for (const id of ids) this.#unborn.add(id);
  }

  /** Takes such an assumption back. */
  assumeNothing(ids: Iterable<DocId>): void {
    for (const id of ids) this.#unborn.delete(id);
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
