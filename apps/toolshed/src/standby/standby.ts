import type { MemoryServer, Subscription } from "@tidemark/memory-engine";
import type { Cancellable, Clock, SpaceId } from "@tidemark/protocol";

/** What {@link watchRivals} is given. */
export interface StandbyOptions {
  readonly memory: MemoryServer;
  readonly host: {
    readonly holder: string;
    isActive(space: SpaceId): boolean;
    warm(space: SpaceId): void;
  };
  readonly clock: Clock;
  /** The stores there are at the start. */
  readonly spaces: Iterable<SpaceId>;
  /** Called where a space is served here from now on, after the lease of this holder. */
  readonly onTakeover: (space: SpaceId, from: string) => void;
  /** Called for a store that cannot be looked at. */
  readonly onError: (space: SpaceId, error: unknown) => void;
}

/** Past the expiry by a little: a lease whose last millisecond it is still matches. */
const MARGIN_MS = 5;

/**
 * The trigger of a standby process. The executor leaves a space to the process that holds its lease and plans nothing
 * of its own (seed 001 §1), so somebody has to notice that the holder is gone: for every space that is served
 * elsewhere, one timer at the expiry of the lease that was seen last. A process that is alone arms none.
 */
export function watchRivals(options: StandbyOptions): Subscription {
  const { memory, clock, spaces, onError } = options;
  const timers = new Map<SpaceId, Cancellable>();
  let closed = false;

  const look = (space: SpaceId): void => {
    if (closed || timers.has(space)) return;
    try {
      const rival = rivalOf(space, options);
      if (rival === undefined) return;
      timers.set(
        space,
        clock.timer(rival.expiresInMs + MARGIN_MS, () => {
          timers.delete(space);
          look(space);
          if (!timers.has(space)) takeOver(space, rival.holder, options);
        }),
      );
    } catch (error) {
      onError(space, error);
    }
  };

  // The executor has answered the same notice by then, and been refused where a rival serves the space.
  const subscription = memory.onAdmission(({ space }) => clock.immediate(() => look(space)));
  for (const space of spaces) clock.immediate(() => look(space));
  return {
    close() {
      closed = true;
      subscription.close();
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}

interface Rival {
  readonly holder: string;
  readonly expiresInMs: number;
}

/** Who else holds the space's live lease, and for how long, if anybody does. */
function rivalOf(space: SpaceId, { memory, host, clock }: StandbyOptions): Rival | undefined {
  if (host.isActive(space)) return undefined;
  const lease = memory.space(space).engine.lease.current();
  if (lease === undefined || !lease.live || lease.holder === host.holder) return undefined;
  return { holder: lease.holder, expiresInMs: Math.max(0, lease.expiresAt - clock.now()) };
}

/** The holder is gone. Whether the space needs anybody is the executor's own criterion. */
function takeOver(space: SpaceId, from: string, options: StandbyOptions): void {
  const { memory, host, onTakeover, onError } = options;
  try {
    const served = memory.space(space);
    const active = host.isActive(space);
    if (!active && served.liveSessions() === 0 && !served.engine.entries.backlog()) return;
    onTakeover(space, from);
    // A notice since the lease ended may have begun the tenure already.
    if (!active) host.warm(space);
  } catch (error) {
    onError(space, error);
  }
}
