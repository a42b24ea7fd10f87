import type {
  ActionId,
  Actor,
  Clock,
  DocId,
  IdSource,
  InstanceKey,
  ScopeKey,
  Seq,
  SpaceId,
} from "@tidemark/protocol";
import type { Scheduler } from "@tidemark/scheduler";
import type { PatternRegistry } from "./pattern/registry.js";
import type { Posture, RuntimeReport, SealDestination, StateView } from "./types.js";

/** One input that a node was computed from, as the basis index keeps it (seed 001 §3b). */
export interface RecoveredRead {
  readonly key: InstanceKey;
  readonly seq: Seq;
}

/** What a {@link Runtime} is made of. */
export interface RuntimeOptions {
  readonly space: SpaceId;
  readonly patterns: PatternRegistry;
  readonly scheduler: Pick<
    Scheduler,
    "register" | "unregister" | "subscribeClean" | "notify" | "rearm" | "pull"
  >;
  readonly view: StateView;
  readonly seal: SealDestination;
  readonly posture: Posture;
  readonly clock: Pick<Clock, "now">;
  /** Mints the ids of sent events. */
  readonly ids: IdSource;
  /** Whose scoped instances plain reads and edits mean: a client's own. */
  readonly actor?: () => Actor;
  readonly report?: (report: RuntimeReport) => void;
  /**
   * Called when a run reads or writes a node that no started piece has, through a link: the host
   * starts its piece if it can, so that what is read is current and its defaults are known.
   */
  readonly ensureOwner?: (id: DocId) => void;
  /**
   * Asked when a node is registered: the inputs it was last computed from, or `undefined` where that
   * is not known. The node is taken as current, and not run, where every input still has that seq and
   * no unconfirmed layer lies over it (seed 001 §6).
   */
  readonly recovered?: (
    action: ActionId,
    scopeKey: ScopeKey,
  ) => readonly RecoveredRead[] | undefined;
}
