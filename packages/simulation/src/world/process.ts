import { type DocumentLoads, ExecutorHost, type ServingPolicy } from "@tidemark/executor";
import { ManualPerformer } from "@tidemark/executor/testing";
import {
  type Engine,
  folderStores,
  MemoryServer,
  type SqlDriver,
  type StoreProvider,
} from "@tidemark/memory-engine";
import type { Clock, Connection, Gates, Random, SpaceId } from "@tidemark/protocol";
import type { ChildClock } from "@tidemark/protocol/testing";
import type { PatternRegistry } from "@tidemark/runtime";
import { listen, type Listener, type TransportKind } from "./switchboard.js";

/** What a server process of a world is made of. */
export interface ProcessOptions {
  readonly name: string;
  readonly clock: ChildClock;
  readonly storeClock: Clock;
  /** Whose time messages take on their way. */
  readonly network: Clock;
  readonly random: Random;
  readonly gates: Gates;
  readonly storesDir: string;
  readonly openDriver: (file: string) => SqlDriver;
  readonly onStore: (engine: Engine) => void;
  readonly transport: TransportKind;
  readonly patterns: PatternRegistry;
  readonly policy: Partial<ServingPolicy>;
  readonly loads: DocumentLoads;
  /** Without a host the process admits and serves reads, and derives nothing. */
  readonly serving: boolean;
}

/**
 * One server process: a memory server, an executor's host and a listener, wired as toolshed wires them, on real files.
 * Once it is dead nothing of it acts any more: its timers never fire, its sockets are inert, its stores are closed.
 */
export class ServerProcess {
  readonly name: string;
  readonly clock: ChildClock;
  readonly memory: MemoryServer;
  readonly host: ExecutorHost | undefined;
  /** Answers the process's effects as the file's steps say; a process that dies takes its calls along. */
  readonly performer = new ManualPerformer();
  readonly #engines = new Map<SpaceId, Engine>();
  readonly #transport: TransportKind;
  readonly #network: Clock;
  #listener: Listener | undefined;
  #alive = true;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.clock = options.clock;
    this.#transport = options.transport;
    this.#network = options.network;
    const stores = this.#remembering(
      folderStores({
        dir: options.storesDir,
        storeClock: options.storeClock,
        random: options.random,
        openDriver: options.openDriver,
      }),
      options.onStore,
    );
    this.memory = new MemoryServer({
      clock: options.clock,
      random: options.random,
      gates: options.gates,
      stores,
      serverId: options.name,
    });
    this.host = options.serving
      ? new ExecutorHost({
          memory: this.memory,
          stores,
          patterns: options.patterns,
          clock: options.clock,
          gates: options.gates,
          random: options.random,
          policy: options.policy,
          loads: this.#whileAlive(options.loads),
          effects: { fetchData: this.performer },
        })
      : undefined;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** It stands still: it does nothing, and keeps what it holds. */
  get frozen(): boolean {
    return this.#alive && this.clock.suspended;
  }

  get listener(): Listener | undefined {
    return this.#listener;
  }

  /** Starts listening and serving. */
  async start(): Promise<void> {
    const accept = (connection: Connection): void => {
      if (this.#alive) this.memory.accept(connection);
    };
    const clocks = { network: this.#network, process: this.clock };
    this.#listener = await listen(this.#transport, clocks, accept);
    this.host?.start();
  }

  /** The process dies: nothing is flushed, nothing released. */
  crash(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.clock.kill();
    this.#listener?.drop();
    for (const engine of this.#engines.values()) engine.close();
  }

  /** Shuts down in order. */
  async stop(): Promise<void> {
    if (!this.#alive) return;
    await this.host?.stop();
    await this.memory.stop();
    this.#alive = false;
    this.clock.kill();
    this.#listener?.drop();
  }

  /** Frees what a dead process still holds of the real machine. */
  async dispose(): Promise<void> {
    this.crash();
    await this.#listener?.close();
  }

  /** What becomes of loads is no news to the dead. */
  #whileAlive(loads: DocumentLoads): DocumentLoads {
    return {
      load: (space, key, read) => loads.load(space, key, read),
      watch: (space, fn) => loads.watch(space, (news) => (this.#alive ? fn(news) : undefined)),
    };
  }

  #remembering(stores: StoreProvider, onStore: (engine: Engine) => void): StoreProvider {
    return {
      ...stores,
      open: (space) => {
        const engine = stores.open(space);
        this.#engines.set(space, engine);
        onStore(engine);
        return engine;
      },
    };
  }
}
