import { ConnectionError, type Connection, type SpaceId } from "@tidemark/protocol";
import { DEFAULT_SERVER_POLICY, type ServerPolicy } from "./policy.js";
import { ClientConnection } from "./session/client-connection.js";
import type { ConnectionHost } from "./session/host.js";
import { SessionRegistry } from "./session/registry.js";
import { SpaceCore } from "./space/space-core.js";
import { ServerCounters, type MemoryServerStats } from "./stats.js";
import type {
  AdmissionNotice,
  MemoryServerOptions,
  ServedSpace,
  ServerLog,
  Subscription,
} from "./types.js";

const silent: ServerLog = () => undefined;

/**
 * The memory server: sessions, admission, watches and push over the stores of many spaces
 * (protocol.md §1–§5, §7). Any transport hands it connections; the executor's host uses it in
 * process. Nothing of a client reaches a store but through admission.
 */
export class MemoryServer {
  readonly #options: MemoryServerOptions;
  readonly #policy: ServerPolicy;
  readonly #log: ServerLog;
  readonly #counters = new ServerCounters();
  readonly #spaces = new Map<SpaceId, SpaceCore>();
  readonly #connections = new Set<ClientConnection>();
  readonly #registry: SessionRegistry;
  readonly #listeners = new Set<(notice: AdmissionNotice) => void>();
  readonly #host: ConnectionHost;
  #stopped = false;

  constructor(options: MemoryServerOptions) {
    this.#options = options;
    this.#policy = { ...DEFAULT_SERVER_POLICY, ...options.policy };
    this.#log = options.log ?? silent;
    this.#registry = new SessionRegistry(this.#policy.sessionAbsenceMs);
    this.#host = this.#makeHost();
  }

  /**
   * Takes the server's side of a connection, from any transport. `onSession` is called when the connection has its
   * session: what bounds strangers may let go of it then.
   */
  accept(socket: Connection, onSession?: () => void): void {
    if (this.#stopped) {
      socket.close();
      return;
    }
    const connection = new ClientConnection(this.#host, socket, onSession);
    this.#connections.add(connection);
    connection.start();
  }

  /** Wakes the executor's host: authored admissions, sessions that come and go, warm requests. */
  onAdmission(fn: (notice: AdmissionNotice) => void): Subscription {
    this.#listeners.add(fn);
    return { close: () => void this.#listeners.delete(fn) };
  }

  /** An explicit request to serve a space (seed 001 §1). */
  warm(notice: Omit<AdmissionNotice, "reason">): void {
    this.#notify({ ...notice, reason: "warm" });
  }

  /** The space for the co-hosted executor; opens its store on demand. @throws StorageError, ConnectionError */
  space(space: SpaceId): ServedSpace {
    return this.#core(space);
  }

  /** Whether a store stands for the space. */
  exists(space: SpaceId): boolean {
    return this.#spaces.has(space) || this.#options.stores.exists(space);
  }

  /** Closes the store of a space that nobody has open or follows; false where somebody does. */
  closeIdle(space: SpaceId): boolean {
    const core = this.#spaces.get(space);
    if (core === undefined || !core.idle) return false;
    this.#spaces.delete(space);
    core.stop();
    return true;
  }

  /** Counters, and what is held right now. */
  stats(): MemoryServerStats {
    const cores = [...this.#spaces.values()];
    const sum = (of: (core: SpaceCore) => number): number =>
      cores.reduce((total, core) => total + of(core), 0);
    return {
      connections: this.#connections.size,
      sessions: this.#registry.size,
      liveSessions: this.#registry.live,
      openSpaces: cores.length,
      channels: sum((core) => core.liveSessions()),
      tracked: sum((core) => core.push.tracked),
      waitingSenders: sum((core) => core.push.waiting),
      timers: sum((core) => core.timers),
      ...this.#counters.snapshot(),
    };
  }

  /** Admits what arrived, closes every connection and every store. */
  stop(): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = true;
      for (const core of this.#spaces.values()) core.intake.flush();
      for (const connection of this.#connections) connection.shutDown();
      for (const core of this.#spaces.values()) core.stop();
      this.#spaces.clear();
    }
    return Promise.resolve();
  }

  #core(space: SpaceId): SpaceCore {
    const open = this.#spaces.get(space);
    if (open !== undefined) return open;
    // A request that a gate held may come back after the end; it opens no store any more.
    if (this.#stopped) throw new ConnectionError(`the server of ${space} has stopped`, {});
    const core = new SpaceCore({
      engine: this.#options.stores.open(space),
      clock: this.#options.clock,
      gates: this.#options.gates,
      policy: this.#policy,
      counters: this.#counters,
      log: this.#log,
      notify: (notice) => this.#notify(notice),
    });
    this.#spaces.set(space, core);
    return core;
  }

  #makeHost(): ConnectionHost {
    const { serverId, clock, random, gates } = this.#options;
    return {
      serverId,
      clock,
      random,
      gates,
      policy: this.#policy,
      counters: this.#counters,
      log: this.#log,
      registry: this.#registry,
      existing: (space) => (this.exists(space) ? this.#core(space) : undefined),
      created: (space) => this.#core(space),
      closed: (connection) => void this.#connections.delete(connection),
    };
  }

  #notify(notice: AdmissionNotice): void {
    for (const fn of this.#listeners) {
      try {
        fn(notice);
      } catch (error) {
        this.#log("error", "an admission listener failed", { error: String(error) });
      }
    }
  }
}
