import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeFileOf } from "@tidemark/memory-engine";
import { type Random, seededRandom, type Seq, type SpaceId } from "@tidemark/protocol";
import { type ChildClock, VirtualClock } from "@tidemark/protocol/testing";
import { StepFailure } from "../run/failure.js";
import type { ClientFile, Scenario } from "../scenario/file.js";
import type { NamedEvent, ScenarioClient, Watched } from "./client.js";
import { WorldClients } from "./clients.js";
import { WorldDisks } from "./disks.js";
import { WorldGates } from "./gates.js";
import { completedRuns, landingAnswers, sumCounter } from "./inspect.js";
import { foundSpace } from "./found-space.js";
import type { StoreObserver } from "./observer.js";
import { Intruders } from "./intruders.js";
import { last } from "./last.js";
import { realTurn } from "./real-turn.js";
import { WorldLeases } from "./leases.js";
import { WorldLoads } from "./loads.js";
import { Outside } from "./outside.js";
import { WorldPatterns } from "./patterns.js";
import { hashOf, Places } from "./places.js";
import { ServerProcess } from "./process.js";
import { servingPolicy } from "./serving-policy.js";
import { WorldStores } from "./stores.js";
import { type Listener, switchedTransport, type TransportKind } from "./switchboard.js";
import type { ProcessChange, WorldWatch } from "./watch.js";

/** How a world is made. */
export interface WorldOptions {
  readonly transport: TransportKind;
  readonly seed: number;
  readonly trace: (line: string) => void;
  /** How many callbacks may run while time stands still before the world counts as spinning. */
  readonly maxImmediates?: number;
  /** For whoever judges the world from outside while it runs. */
  readonly watch?: WorldWatch | undefined;
}

const SETTLE_LIMIT_MS = 5_000;

/**
 * Everything a scenario runs on: virtual time, real stores in a temporary folder, server processes, clients, and who
 * is called what. It moves the parts and judges nothing.
 */
export class World {
  readonly clock: VirtualClock;
  /** What the stores go by: it alone judges whether a lease is live (seed 001 §2). */
  readonly storeClock: ChildClock;
  readonly gates: WorldGates;
  readonly places: Places;
  readonly loads = new WorldLoads();
  readonly leases: WorldLeases;
  readonly intruders: Intruders;
  readonly outside: Outside;
  readonly disks: WorldDisks;
  readonly events = new Map<string, NamedEvent>();
  readonly commits = new Map<string, Seq>();
  readonly marks = new Map<string, Seq>();
  readonly trace: (line: string) => void;
  readonly #scenario: Scenario;
  readonly #options: WorldOptions;
  readonly #dir: string;
  readonly #processes: ServerProcess[] = [];
  readonly #stores: WorldStores;
  readonly #clients: WorldClients;
  readonly #patterns: WorldPatterns;
  #lives = 0;

  constructor(scenario: Scenario, options: WorldOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.clock = new VirtualClock(
      options.maxImmediates === undefined ? {} : { maxImmediates: options.maxImmediates },
    );
    this.storeClock = this.clock.child({ name: "store" });
    this.trace = options.trace;
    this.places = new Places(scenario, options.seed);
    this.#patterns = new WorldPatterns(scenario, this.places, (ms) => this.clock.spend(ms));
    this.gates = new WorldGates(options.watch?.gate);
    this.#dir = mkdtempSync(join(tmpdir(), "tidemark-scenario-"));
    this.#stores = new WorldStores({
      dir: this.#storesDir,
      clock: this.storeClock,
      random: () => this.#random("observer"),
      idOf: (name) => this.places.space(name),
      watch: options.watch?.store,
    });
    this.intruders = new Intruders({
      places: this.places,
      transport: switchedTransport(this.clock, () => this.#listener),
      onBreach: (what) => options.watch?.breach?.(what),
    });
    this.#clients = new WorldClients({
      scenario,
      places: this.places,
      patterns: this.#patterns,
      clock: this.clock,
      random: (name) => this.#random(name),
      nextLife: () => (this.#lives += 1),
      transport: (clock) => switchedTransport(clock, () => this.#listener),
      overhear: (transport) => this.intruders.overhear(transport),
      trace: options.trace,
      watch: options.watch?.client,
    });
    this.outside = new Outside(this.#processes);
    this.disks = new WorldDisks({
      fileOf: (name) => storeFileOf(this.#storesDir, this.places.space(name)),
      spend: (ms) => this.clock.spend(ms),
      watch: options.watch?.disk,
    });
    this.leases = new WorldLeases({
      places: this.places,
      storeClock: this.storeClock,
      observer: (name) => this.observer(name),
      processes: this.#processes,
      watch: options.watch?.theft,
    });
  }

  /** Makes the spaces and pieces of the file, then starts the server and connects the clients. */
  async begin(): Promise<void> {
    await this.#setUp();
    for (const name of this.places.spaceNames) {
      this.marks.set(name, this.observer(name).head());
    }
    const starts = this.#scenario.autostart !== false;
    if (starts) await this.startProcess("server");
    for (const [name, file] of Object.entries(this.#scenario.clients))
      this.connectClient(name, file);
    if (starts) await this.drain();
  }

  /** Frees the real machine. */
  async end(): Promise<void> {
    for (const client of this.clients.values()) client.drop();
    for (const process of this.#processes) await process.dispose();
    this.#stores.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  // — time —

  /** Runs everything that can run without time moving, on all transports. */
  async drain(): Promise<void> {
    do {
      await this.clock.drain();
      if (this.#inFlight > 0) await realTurn();
    } while (this.#inFlight > 0);
  }

  /** Moves time, firing timers in order and letting everything run between them. */
  async advance(ms: number): Promise<void> {
    const until = this.clock.monotonic() + ms;
    await this.drain();
    while (this.clock.monotonic() < until) {
      const fired = await this.clock.advanceToNextTimer(until - this.clock.monotonic());
      if (!fired) await this.clock.advance(Math.max(0, until - this.clock.monotonic()));
      await this.drain();
    }
    await this.clock.advance(0);
    await this.drain();
  }

  /** Lets time go from timer to timer until something holds. False where it does not within the limit. */
  async reach(holds: () => boolean, within = SETTLE_LIMIT_MS): Promise<boolean> {
    const until = this.clock.monotonic() + within;
    for (;;) {
      await this.drain();
      if (holds()) return true;
      const left = until - this.clock.monotonic();
      if (left < 0 || !(await this.clock.advanceToNextTimer(left))) return false;
    }
  }

  /** Waits for a promise as the world goes on; time moves as timers need. */
  async until<T>(promise: Promise<T>, what: string): Promise<T> {
    let done = false;
    const watched = promise.finally(() => {
      done = true;
    });
    watched.catch(() => undefined);
    if (!(await this.reach(() => done))) throw new StepFailure(`${what} did not end`);
    return watched;
  }

  get #inFlight(): number {
    return this.#processes.reduce((sum, { listener }) => sum + (listener?.inFlight ?? 0), 0);
  }

  // — processes —

  async startProcess(name: string): Promise<void> {
    if (this.process(name)?.alive) throw new Error(`process "${name}" is running`);
    const process = this.#makeProcess(name, true);
    this.#processes.push(process);
    this.#changed(process, "starts");
    await process.start();
    await this.drain();
  }

  #changed(process: ServerProcess, what: ProcessChange): void {
    this.#options.watch?.process?.(process.name, what, process.host?.holder ?? "");
  }

  /** The latest process of a name. */
  process(name: string): ServerProcess | undefined {
    return last(this.#processes, (process) => process.name === name);
  }

  requireProcess(name: string): ServerProcess {
    const process = this.process(name);
    if (!process?.alive) throw new Error(`process "${name}" is not running`);
    return process;
  }

  /** Every process there has been, the dead ones too. */
  get processes(): readonly ServerProcess[] {
    return this.#processes;
  }

  crash(name: string): void {
    this.trace(`process ${name} dies`);
    const process = this.process(name);
    if (process?.alive) this.#changed(process, "dies");
    process?.crash();
    this.gates.processEnded(name);
  }

  async stopProcess(name: string): Promise<void> {
    const process = this.requireProcess(name);
    await this.until(process.stop(), `stopping ${name}`);
    this.#changed(process, "stops");
    this.gates.processEnded(name);
    await this.drain();
  }

  /** The process does nothing from now on, and time goes on around it. */
  freeze(name: string): void {
    const process = this.requireProcess(name);
    this.#changed(process, "stands still");
    process.clock.suspend();
  }

  /** Its overdue timers fire in order. */
  async thaw(name: string): Promise<void> {
    const process = this.requireProcess(name);
    this.#changed(process, "goes on");
    process.clock.resume();
    await this.advance(0);
  }

  #makeProcess(name: string, serving: boolean): ServerProcess {
    const life = (this.#lives += 1);
    const clock = this.clock.child({ name });
    return new ServerProcess({
      name,
      clock,
      storeClock: this.storeClock,
      network: this.clock,
      random: this.#random(`process ${name} ${life}`),
      gates: this.gates.forProcess(name, () => this.crash(name)),
      storesDir: this.#storesDir,
      openDriver: this.disks.open,
      onStore: (engine) => this.#options.watch?.store?.(name, engine),
      transport: serving ? this.#options.transport : "loopback",
      patterns: this.#patterns.forServer(
        serving ? this.#options.watch?.handlers?.(name) : undefined,
      ),
      policy: servingPolicy(this.#scenario.policy),
      loads: this.loads,
      serving,
    });
  }

  get #storesDir(): string {
    return join(this.#dir, "spaces");
  }

  /** Whom clients reach: the running process that was started last. */
  get #listener(): Listener | undefined {
    return last(this.#processes, ({ alive }) => alive)?.listener;
  }

  // — clients —

  get clients(): ReadonlyMap<string, ScenarioClient> {
    return this.#clients.all;
  }

  client(name: string): ScenarioClient {
    return this.#clients.client(name);
  }

  connectClient(name: string, file: ClientFile): void {
    this.#clients.connect(name, file);
  }

  /** The tab is opened again under its session id, and knows nothing. */
  reload(name: string): void {
    this.#clients.reload(name);
  }

  /** Every client that watches everything watches a new piece too. */
  pieceAppeared(space: string, name: string): void {
    this.#clients.pieceAppeared(space, name);
  }

  watchedOf(name: string): Watched {
    return this.#clients.watchedOf(name);
  }

  /** Releases the handlers that wait under a name now. */
  let(name: string): void {
    this.#patterns.let(name);
  }

  // — stores —

  /** What is durable in a space. */
  observer(space: string): StoreObserver {
    return this.#stores.observer(space);
  }

  /** W and the highest seq that is not the loop's own. */
  coverage(space: string): { readonly watermark: number; readonly input: number } {
    return this.#stores.coverage(space);
  }

  observerOf(space: SpaceId): StoreObserver {
    return this.observer(this.places.nameOf(space));
  }

  // — what is asked of a world —

  /** The event that a step named. */
  event(name: string): NamedEvent {
    const event = this.events.get(name);
    if (!event) throw new Error(`no step named an event "${name}"`);
    return event;
  }

  /** The seq of a named commit or event, or the number itself. */
  seqOf(name: string | number): number {
    if (typeof name === "number") return name;
    const commit = this.commits.get(name);
    if (commit !== undefined) return commit;
    const { space, stream, eventId, seq } = this.event(name);
    const stored = this.observerOf(space).entries(stream, eventId)[0]?.seq ?? seq;
    if (stored === undefined) throw new Error(`the store has no entry of "${name}"`);
    return stored;
  }

  completedRuns(name: string): number {
    const event = this.event(name);
    return completedRuns(this.observerOf(event.space), event);
  }

  counter(space: string, name: string): number | undefined {
    return sumCounter(this.#processes, this.places.space(space), name);
  }

  isActive(space: string): boolean {
    const id = this.places.space(space);
    return this.#processes.some(({ alive, host }) => alive && host?.isActive(id) === true);
  }

  /** Objects that running processes hold for a space. */
  held(space: string): number {
    const id = this.places.space(space);
    return this.#processes.reduce(
      (sum, { alive, host }) => sum + (alive ? (host?.held(id) ?? 0) : 0),
      0,
    );
  }

  /** Whether everything that was admitted to the spaces is covered, sent, and seen by whoever is online. */
  isSettled(spaces: readonly string[]): boolean {
    return this.whatIsLeft(spaces) === "";
  }

  /** Why the spaces are not settled; empty where they are. */
  whatIsLeft(spaces: readonly string[]): string {
    const left: string[] = [];
    for (const space of spaces) {
      const { watermark, input } = this.#stores.coverage(space);
      if (watermark < input) left.push(`W of ${space} is ${watermark}, below ${input}`);
      const id = this.places.space(space);
      const landing = landingAnswers(this.#processes, id);
      if (landing > 0) left.push(`${landing} answers of effects have not landed in ${space}`);
      for (const client of this.clients.values()) {
        if (!client.online) continue;
        const unsent = client.unsent(id);
        if (unsent > 0) left.push(`${client.name} has ${unsent} on their way to ${space}`);
        if (client.client.busy) left.push(`${client.name} is busy`);
      }
    }
    return left.join("; ");
  }

  /** A write's verdict: an online client's step ends with it. */
  async verdict(client: ScenarioClient, promise: Promise<unknown>, what: string): Promise<void> {
    promise.catch(() => undefined);
    if (client.online) await this.until(promise, what);
    else await this.drain();
  }

  gateSpace(name: string | undefined): { readonly space?: SpaceId } {
    return name === undefined ? {} : { space: this.places.space(name) };
  }

  compact(space: string): void {
    this.#stores.compact(space, this.#scenario.policy);
  }

  /** Founds the spaces of the file with a process that admits and derives nothing. */
  async #setUp(): Promise<void> {
    const process = this.#makeProcess("set-up", false);
    this.#processes.push(process);
    await process.start();
    for (const name of this.places.spaceNames) {
      const client = this.#clients.founder(name);
      await this.drain();
      await foundSpace(this.#scenario, this.places, name, client, (promise, what) =>
        this.until(promise, what),
      );
    }
    await process.stop();
    this.gates.processEnded("set-up");
    await this.drain();
  }

  #random(name: string): Random {
    return seededRandom(hashOf(`${this.#options.seed} ${name}`));
  }
}
