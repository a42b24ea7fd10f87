import type { Clock, Gates, Random, SpaceId } from "@tidemark/protocol";
import type { ServerPolicy } from "../policy.js";
import type { SpaceCore } from "../space/space-core.js";
import type { ServerCounters } from "../stats.js";
import type { ServerLog } from "../types.js";
import type { ClientConnection } from "./client-connection.js";
import type { SessionRegistry } from "./registry.js";

/** What a connection needs of its server. */
export interface ConnectionHost {
  readonly serverId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly gates: Gates;
  readonly policy: ServerPolicy;
  readonly counters: ServerCounters;
  readonly log: ServerLog;
  readonly registry: SessionRegistry;
  /** The space, if a store stands for it. */
  existing(space: SpaceId): SpaceCore | undefined;
  /** The space, its store made where there is none: only for a checked genesis. */
  created(space: SpaceId): SpaceCore;
  /** The connection is over, for whatever reason. */
  closed(connection: ClientConnection): void;
}
