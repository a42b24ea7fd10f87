import { hash } from "node:crypto";
import { join } from "node:path";
import { ExecutorHost, type ServingPolicy } from "@tidemark/executor";
import { type Durability, folderStores, MemoryServer } from "@tidemark/memory-engine";
import {
  type Clock,
  createLoopback,
  openGates,
  type Random,
  systemClock,
  systemRandom,
  type Transport,
  useSha256,
  WIRE_VERSION,
} from "@tidemark/protocol";
import { type Pattern, PatternRegistry } from "@tidemark/runtime";
import { type Demo, openDemo } from "./demo/demo.js";
import type { Effects } from "./effects/open-effects.js";
import { makeFolder } from "./folder/make-folder.js";
import { describePatterns } from "./http/describe-patterns.js";
import { openWeb, type Web } from "./http/web.js";
import { describeError } from "./log/describe-error.js";
import { logReport } from "./log/log-report.js";
import type { Log } from "./log/log.js";
import { renderMetrics } from "./metrics/exposition.js";
import { servingMetrics } from "./metrics/serving-metrics.js";
import { SOCKET_PATH } from "./socket/accept-sockets.js";
import { DEFAULT_SOCKET_POLICY, MAX_MESSAGE_BYTES, type SocketPolicy } from "./socket/policy.js";
import { watchRivals } from "./standby/standby.js";

/** What a toolshed is made of. */
export interface ToolshedOptions {
  /** Where the stores and the demo's keys are; made where it does not stand yet. */
  readonly dataDir: string;
  /** Code that the operator trusts: what pieces may point at. */
  readonly patterns: readonly Pattern[];
  /** Makes a space with a piece of this pattern in it; absent: no demo. */
  readonly demo?: Pattern | undefined;
  /** Address to listen on; by default of this machine alone. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  readonly durability?: Durability;
  readonly serving?: Partial<ServingPolicy>;
  readonly sockets?: Partial<SocketPolicy>;
  /** Who does what effectful nodes ask for; closed with the server. Absent: each of them fails as refused. */
  readonly effects?: Effects;
  /** The shell's built files. */
  readonly shellDir?: string | undefined;
  readonly version?: string;
}

/** A running toolshed. */
export interface Toolshed {
  readonly url: string;
  readonly socketUrl: string;
  /** In-process connections to the same server; they authenticate like any other. */
  readonly loopback: Transport;
  readonly memory: MemoryServer;
  readonly host: ExecutorHost;
  readonly demo: Demo | undefined;
  /** Releases the leases, closes connections and stores. Resolves when all of it is done. */
  stop(): Promise<void>;
}

const silent: Log = () => undefined;

/** The parts of a server that has no address yet. */
interface Core {
  readonly options: ToolshedOptions & { readonly clock: Clock; readonly random: Random };
  readonly sockets: SocketPolicy;
  readonly serverId: string;
  readonly memory: MemoryServer;
  readonly host: ExecutorHost;
  readonly loopback: Transport;
  close(): Promise<void>;
}

/**
 * Composes the server: stores in a folder, the memory server, the executor's host, HTTP and WebSocket. It has no logic
 * of its own. Two toolsheds on one folder are safe: leases decide who serves a space, and the other stands by.
 *
 * @throws StorageError where the demo's store cannot be used; PatternError for two patterns under one name; the
 * system's error where the folder cannot be written or the port cannot be taken. Nothing is left running then.
 */
export async function createToolshed(options: ToolshedOptions): Promise<Toolshed> {
  const core = startCore(options);
  try {
    const demo = await demoOf(core);
    const web = await webOf(core, demo);
    return {
      url: web.url,
      socketUrl: `${web.url.replace(/^http/u, "ws")}${SOCKET_PATH}`,
      loopback: core.loopback,
      memory: core.memory,
      host: core.host,
      demo,
      async stop() {
        // Leases first: a standby process goes on while this one still closes its sockets.
        await core.host.stop();
        web.close();
        await core.close();
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

function startCore(given: ToolshedOptions): Core {
  useSha256((text) => hash("sha256", text, "buffer"));
  const options = {
    ...given,
    clock: given.clock ?? systemClock,
    random: given.random ?? systemRandom,
  };
  const { clock, random, log = silent } = options;
  const patterns = new PatternRegistry(options.patterns);
  const dir = join(options.dataDir, "spaces");
  makeFolder(dir);
  const stores = folderStores({
    dir,
    storeClock: clock,
    random,
    durability: options.durability ?? "normal",
  });
  const serverId = `toolshed-${Buffer.from(random.bytes(8)).toString("hex")}`;
  const sockets = { ...DEFAULT_SOCKET_POLICY, ...options.sockets };
  const policy = { maxMessageBytes: MAX_MESSAGE_BYTES, authDeadlineMs: sockets.signInMs };
  const gates = openGates;
  const memory = new MemoryServer({ clock, random, gates, stores, serverId, policy, log });
  const host = new ExecutorHost({
    memory,
    stores,
    patterns,
    clock,
    gates,
    random,
    service: "toolshed",
    policy: options.serving ?? {},
    ...(options.effects && { effects: options.effects.performers }),
    report: (report) => logReport(log, report),
  });
  const loopback = createLoopback(clock);
  loopback.onConnection((connection) => memory.accept(connection));
  host.start();
  const standby = watchRivals({
    memory,
    host,
    clock,
    spaces: stores.list(),
    onTakeover: (space, from) => log("info", "takeover", { space, from }),
    onError: (space, error) => log("error", "store-failed", { space, error: describeError(error) }),
  });
  return {
    options,
    sockets,
    serverId,
    memory,
    host,
    loopback: loopback.transport,
    async close() {
      standby.close();
      await host.stop();
      await options.effects?.close();
      await memory.stop();
    },
  };
}

async function demoOf({ options, loopback }: Core): Promise<Demo | undefined> {
  const { demo: pattern, dataDir, clock, random } = options;
  if (pattern === undefined) return undefined;
  return openDemo({ dataDir, transport: loopback, pattern, clock, random });
}

function webOf(
  { options, sockets, memory, host, serverId }: Core,
  demo: Demo | undefined,
): Promise<Web> {
  const { clock, version = "0.0.0" } = options;
  const startedAt = clock.now();
  const patterns = describePatterns(options.patterns);
  const meta = {
    name: "toolshed",
    version,
    serverId,
    protocol: WIRE_VERSION,
    demo: demo ?? null,
    patterns,
  };
  return openWeb({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    clock,
    sockets,
    onConnection: (connection, signedIn) => memory.accept(connection, signedIn),
    health: () => healthOf(memory, host, { version, uptimeMs: clock.now() - startedAt }),
    stats: () => ({ servingLoop: host.stats(), memory: memory.stats() }),
    metrics: () => renderMetrics(servingMetrics(host.stats())),
    meta: () => meta,
    shellDir: options.shellDir,
  });
}

function healthOf(
  memory: MemoryServer,
  host: ExecutorHost,
  about: { readonly version: string; readonly uptimeMs: number },
) {
  const { connections, liveSessions, openSpaces } = memory.stats();
  const activeSpaces = host.activeSpaces().length;
  return { ok: true, activeSpaces, openSpaces, connections, liveSessions, ...about };
}
