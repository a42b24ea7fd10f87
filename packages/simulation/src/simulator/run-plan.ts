import { isTidemarkError, systemClock } from "@tidemark/protocol";
import { StepFailure } from "../run/failure.js";
import { act } from "../run/steps.js";
import { parseScenario, parseStep, type Scenario } from "../scenario/file.js";
import type { Step } from "../scenario/steps.js";
import type { Observation } from "../trace/observation.js";
import { Recorder } from "../trace/recorder.js";
import type { WorldWatch } from "../world/watch.js";
import { World } from "../world/world.js";
import { asksAccess, PEOPLE } from "./access-changes.js";
import { applies } from "./applies.js";
import { Coverage } from "./coverage.js";
import { type Finding, Judge } from "./judge.js";
import { DISK_FAULTS, faultMet } from "./fault-met.js";
import type { PlanFile, RawStep } from "./plan-file.js";
import { emptyWork, type Work } from "./work.js";

/** What came of a plan. */
export interface PlanResult {
  readonly plan: PlanFile;
  readonly findings: readonly Finding[];
  readonly work: Work;
  readonly coverage: Coverage;
  readonly trace: readonly string[];
  /** What was seen of the system, where it was asked for. */
  readonly observed: readonly Observation[];
  /** How often the system took each transition of the model. */
  readonly transitions: ReadonlyMap<string, number>;
  /** The steps as they were done: those that meant nothing left out, what calmed the world put in. */
  readonly done: readonly RawStep[];
}

const HANG_MS = 30_000;
/** More callbacks than any step needs while time stands still: something goes round in circles. */
const MOST_IMMEDIATES = 20_000;
/** How long a calm world may take until everybody sees the same: longer than any back-off of the parts. */
const CALM_MS = 90_000;
const CALM_ROUNDS = 60;
const LOOK_MS = 1_500;
/** No row lives longer by itself, with a margin over the TTL. */
const LONGEST_ROW_MS = 20_000;
const SETTLED_AGAIN_MS = 30_000;
const IDLE_MS = 60_000;
/** The runtime that an idle park keeps is let go after it (seed 001 §1, Parking). */
const RETENTION_MS = 600_000;

/** Runs a plan on the real parts and judges it after every step. Never rejects. */
export async function runPlan(plan: PlanFile, options: RunOptions = {}): Promise<PlanResult> {
  const run = new PlanRun(plan, options);
  return run.run();
}

/** What a run keeps beside its findings. */
export interface RunOptions {
  /** Keeps everything that was observed: for whoever looks at a trace again. */
  readonly observe?: boolean;
}

class PlanRun {
  readonly #plan: PlanFile;
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #judge: Judge;
  readonly #recorder: Recorder;
  readonly #observed: Observation[] = [];
  readonly #coverage = new Coverage();
  readonly #trace: string[] = [];
  readonly #done: RawStep[] = [];
  readonly #work = emptyWork();
  #alive = "";
  /** How many attempts to serve had been refused when the world was last at rest. */
  #refused = 0;

  constructor(plan: PlanFile, { observe = false }: RunOptions) {
    this.#plan = plan;
    this.#scenario = parseScenario(plan.id, plan);
    this.#world = new World(this.#scenario, {
      transport: "loopback",
      seed: plan.seed,
      maxImmediates: MOST_IMMEDIATES,
      trace: (line) => this.#trace.push(line),
      watch: {
        ...this.#watches(),
        client: (client, file) => {
          this.#judge.join(client, file.watch === undefined);
          this.#judge.witness.join(client, file);
        },
      },
    });
    this.#judge = new Judge(this.#world.clock, () => this.#world);
    this.#recorder = new Recorder(this.#world.clock, (observation) => {
      if (observe) this.#observed.push(observation);
      this.#judge.model.see(observation);
    });
  }

  /** What is observed goes to the model; gates and stores also to whoever counts them. */
  #watches(): WorldWatch {
    return {
      gate: (gate, met, at) => {
        this.#coverage.note(gate, met);
        if (gate === "wave:before-commit" && (met === "pass" || met === "left"))
          this.#judge.closing(at.process, at.space);
        this.#recorder.gate(gate, met, at);
      },
      store: (process, engine) => {
        this.#judge.ledger.watch(process, engine);
        this.#recorder.store(process, engine);
      },
      breach: (what) => this.#judge.complain("intrusion", what),
      disk: (met) => this.#coverage.noteFault(DISK_FAULTS[met]),
      process: (name, what, holder) => this.#recorder.process(name, what, holder),
      handlers: (process) => this.#recorder.handlers(process),
      theft: (space, holder, ttlMs) => {
        this.#judge.ledger.stolen(space, holder, ttlMs);
        this.#recorder.theft(space, holder, ttlMs);
      },
    };
  }

  async run(): Promise<PlanResult> {
    const hung = await withinRealTime(this.#play());
    if (hung) {
      this.#judge.complain("hang", `no end within ${HANG_MS / 1_000} s`);
      for (const { name } of this.#world.processes) this.#world.crash(name);
    } else await this.#world.end();
    this.#count();
    return {
      plan: this.#plan,
      findings: this.#judge.findings,
      work: this.#work,
      coverage: this.#coverage,
      trace: this.#trace,
      observed: this.#observed,
      transitions: this.#judge.model.taken,
      done: this.#done,
    };
  }

  async #play(): Promise<void> {
    try {
      await this.#world.begin();
      this.#judge.begin();
      this.#judge.afterStep();
      for (const step of this.#scenario.steps) {
        this.#judge.step = step.number;
        await this.#step(step);
        if (this.#judge.findings.length > 0) return;
      }
      await this.#leave();
    } catch (error) {
      this.#judge.complain(
        "crash",
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
    }
  }

  async #step(step: Step): Promise<void> {
    const raw = this.#plan.steps[step.number - 1] ?? {};
    this.#trace.push(`${step.number}. ${JSON.stringify(raw)}`);
    this.#work.steps += 1;
    if (step.verb === "settle") return this.#settle(raw);
    if (!applies(this.#world, step)) {
      this.#work.skipped += 1;
      this.#trace.push("   skipped");
      return undefined;
    }
    if (DISTURBING.has(step.verb) || firesForAccess(step)) this.#undemand();
    if (step.verb === "compact")
      for (const oracle of this.#judge.oracles.values()) oracle.compacted = true;
    const struck = faultMet(this.#world, step);
    await this.#do(step, raw);
    for (const fault of struck()) this.#coverage.noteFault(fault);
    this.#look();
    return undefined;
  }

  /** Does a step. What it may not do is part of the plan; the record says so. */
  async #do(step: Step, raw: RawStep): Promise<void> {
    if (step.verb === "start" && this.#world.processes.some(({ alive }) => alive)) {
      this.#judge.witness.apart = true;
    }
    const before = this.#world.processes.length;
    try {
      await act(this.#world, step);
      this.#done.push(raw);
    } catch (error) {
      if (!(error instanceof StepFailure) && !isTidemarkError(error)) throw error;
      const text = error instanceof Error ? error.message : "";
      this.#trace.push(`   ${text}`);
      this.#work.refused += 1;
      if (text.includes("DuplicateEventError")) this.#work.duplicatesRefused += 1;
      const refusal = /^refused: (\w+):/u.exec(text)?.[1];
      if (refusal) this.#done.push({ ...raw, refused: refusal });
    }
    this.#work.takeovers += this.#world.processes.length - before;
  }

  /** Looks at the world as the step left it. */
  #look(): void {
    const alive = this.#processes();
    if (alive !== this.#alive) this.#undemand();
    this.#alive = alive;
    this.#judge.afterStep();
  }

  #processes(): string {
    return this.#world.processes.map((each) => `${each.name} ${each.alive}`).join();
  }

  #undemand(): void {
    for (const oracle of this.#judge.oracles.values()) oracle.demandedFrom = undefined;
  }

  // — calm —

  /** Ends what the plan holds up, lets the world come to rest, and judges it whole. */
  async #settle(raw: RawStep): Promise<void> {
    this.#work.settles += 1;
    let left: readonly string[] = [];
    this.#world.gates.clear();
    await this.#tellTheDenied();
    let until = this.#world.clock.monotonic() + CALM_MS;
    for (let round = 0; round < CALM_ROUNDS; round++) {
      await this.#calm();
      until += await this.#outwaitTheDead();
      this.#look();
      if (await this.#world.reach(() => this.#atRest(), LOOK_MS)) {
        left = this.#judge.unsettled();
        if (left.length === 0 || this.#judge.findings.length > 0) break;
        if (this.#judge.ledger.refused > this.#refused) await this.#nudge();
      } else {
        left = this.#whatIsLeft();
        await this.#nudge();
      }
      if (this.#world.clock.monotonic() > until) break;
      await this.#world.advance(LOOK_MS);
    }
    this.#refused = this.#judge.ledger.refused;
    this.#done.push(raw);
    for (const what of left) this.#judge.complain("settled", what);
    this.#demand();
  }

  /** Who may not read shows it once there is time, whatever else goes on: pushes stop, and the client says why. */
  async #tellTheDenied(): Promise<void> {
    const spaces = this.#world.places.spaceNames.filter((space) => !this.#judge.isAtRest(space));
    if (spaces.length === 0) return;
    await this.#calmProcesses();
    const wrong = (): readonly string[] => spaces.flatMap((space) => this.#judge.untold(space));
    if (await this.#world.reach(() => wrong().length === 0, CALM_MS)) return;
    for (const what of wrong()) this.#judge.complain("access", what);
  }

  #atRest(): boolean {
    const { gates, places, processes } = this.#world;
    return (
      gates.waiting === 0 &&
      processes.some(({ alive }) => alive) &&
      this.#world.isSettled(places.spaceNames)
    );
  }

  #whatIsLeft(): readonly string[] {
    const { gates, places, processes, clients } = this.#world;
    const states = [...clients.values()].map(
      ({ name, client }) =>
        `${name} ${client.status.value.state} ${client.status.value.reason ?? ""}`,
    );
    return [
      this.#world.whatIsLeft(places.spaceNames),
      `waiting at [${gates.waitingAt.join()}]`,
      `running [${processes
        .filter(({ alive }) => alive)
        .map(({ name }) => name)
        .join()}]`,
      `clients [${states.join(", ")}]`,
    ];
  }

  async #calm(): Promise<void> {
    await this.#calmProcesses();
    const world = this.#world;
    for (const space of world.places.spaceNames) await this.#giveBack(space);
    await this.#insert({ let: "slow" });
    for (const space of world.places.spaceNames) {
      for (const { name } of world.places.piecesOf(space)) {
        await this.#insert({ answer: `${space}/${name}/page` });
      }
    }
  }

  async #calmProcesses(): Promise<void> {
    const world = this.#world;
    world.intruders.leave();
    if (!world.processes.some(({ alive }) => alive)) await this.#insert({ start: "server" });
    // Clients reach the process that was started last: what they demand is derived where they are.
    const running = world.processes.filter(({ alive }) => alive).map(({ name }) => name);
    for (const name of running) await this.#insert({ thaw: name });
    for (const name of running.slice(0, -1)) await this.#insert({ stop: name });
    for (const gate of world.gates.waitingAt) await this.#insert({ release: gate });
    for (const client of world.clients.values()) {
      if (client.live && !client.online) await this.#insert({ online: client.name });
    }
    for (const space of world.places.spaceNames) await this.#insert({ disk: [space, "sound"] });
  }

  /** Puts everybody back into the access list of a space, as whoever owns it now. */
  async #giveBack(space: string): Promise<void> {
    const { places, clients } = this.#world;
    const acl = places.aclOf(space);
    if (acl === undefined || this.#judge.isAtRest(space)) return;
    const owner = this.#judge.ownerOf(space, PEOPLE);
    if (owner === undefined) return;
    const there = [...clients.values()].find(({ user, online }) => online && user === owner);
    const name = there?.name ?? KEEPER;
    if (there === undefined) {
      await this.#insert({ connect: { [KEEPER]: { user: owner, session: KEEPER, watch: [] } } });
      await this.#world.advance(LOOK_MS);
    }
    await this.#insert({ acl: [name, space, { ...acl }] });
    if (there === undefined) await this.#insert({ close: KEEPER });
  }

  /** For how long each live row that nobody living holds goes on, ms: who comes meanwhile is refused, and not told of its end. */
  #rowsOfTheDead(): readonly number[] {
    const { places, leases } = this.#world;
    return places.spaceNames
      .filter((space) => leases.processOf(space)?.alive !== true)
      .map((space) => leases.leftOf(space))
      .filter((left) => left > 0);
  }

  /**
   * A row lives as long as the store's clock says, which may have gone back: nobody serves its space where whom it
   * names is dead. Says how long it took, ms.
   */
  async #outwaitTheDead(): Promise<number> {
    const longest = Math.max(0, ...this.#rowsOfTheDead());
    if (longest <= LONGEST_ROW_MS) return 0;
    await this.#world.advance(longest);
    return longest;
  }

  /**
   * A dead process's lease row stays live until its TTL, whoever started meanwhile parked on it, and only another trigger
   * activates the space again (seed 001 §1): somebody comes and goes.
   */
  async #nudge(): Promise<void> {
    const { places, leases } = this.#world;
    const left = places.spaceNames.every((space) => leases.holderOf(space) !== undefined);
    if (left || this.#world.clients.get("nudge")?.online) return;
    this.#work.nudges += 1;
    await this.#insert({ connect: { nudge: { user: "alice", session: "nudge", watch: [] } } });
    await this.#world.advance(LOOK_MS);
    await this.#insert({ close: "nudge" });
  }

  async #insert(raw: RawStep): Promise<void> {
    const step = parseStep(this.#plan.id, raw, this.#judge.step);
    if (!applies(this.#world, step)) return;
    await this.#do(step, raw);
  }

  /** From here on, while nothing disturbs it, somebody demands everything. */
  #demand(): void {
    this.#judge.witness.apart = false;
    this.#alive = this.#processes();
    const a1 = this.#world.clients.get("a1");
    if (!a1?.online) return;
    for (const oracle of this.#judge.oracles.values()) oracle.demandedFrom = oracle.head;
  }

  // — the end —

  /** Everybody leaves, comes back once, and leaves again: what is held then is what was held before. */
  async #leave(): Promise<void> {
    this.#judge.step = this.#scenario.steps.length + 1;
    // A plan that was cut may end in the middle: what it holds up is no leak.
    if (this.#scenario.steps.at(-1)?.verb !== "settle") {
      await this.#settle({ settle: [...this.#world.places.spaceNames] });
      if (this.#judge.findings.length > 0) return;
    }
    await this.#goAway();
    const first = this.#held();
    this.#world.connectClient("last", { user: "alice", session: "last" });
    await this.#world.drain();
    for (const space of this.#world.places.spaceNames) {
      const piece = this.#world.places.piecesOf(space)[0]?.name ?? "";
      await this.#insert({ fire: ["last", `${space}/${piece}/inc`, { k: `last ${space}`, n: 0 }] });
    }
    await this.#settle({ settle: [...this.#world.places.spaceNames] });
    if (this.#judge.findings.length > 0) return;
    await this.#goAway();
    const second = this.#held();
    if (second !== first) {
      this.#judge.complain("leak", `after everybody left: ${first}; after once more: ${second}`);
    }
    for (const space of this.#world.places.spaceNames) {
      const held = this.#world.held(space);
      if (held > 0) this.#judge.complain("leak", `${held} objects held for ${space}`);
      if (this.#world.isActive(space)) this.#judge.complain("leak", `${space} did not park`);
      const holder = this.#world.leases.holderOf(space);
      if (holder) this.#judge.complain("leak", `${holder} holds the lease of ${space}`);
    }
  }

  async #goAway(): Promise<void> {
    for (const client of this.#world.clients.values()) {
      if (client.live) await this.#insert({ close: client.name });
    }
    await this.#world.advance(IDLE_MS);
    await this.#world.advance(SETTLED_AGAIN_MS);
    await this.#world.advance(RETENTION_MS);
  }

  #held(): string {
    const { clock } = this.#world;
    return `${clock.pendingTimers()} timers, ${clock.pendingImmediates()} immediates`;
  }

  #count(): void {
    const work = this.#work;
    for (const oracle of this.#judge.oracles.values()) {
      work.consequenced += oracle.consequenced;
      work.errored += oracle.errored;
      work.passedOver += oracle.passedOver;
      work.commits += oracle.head;
      work.derivedCommits += oracle.derivedCommits;
    }
    work.frames = this.#judge.witness.frames;
    work.crashes = this.#trace.filter((line) => line.endsWith(" dies")).length;
    for (const space of this.#world.places.spaceNames) {
      work.superseded += this.#world.counter(space, "supersededWrites") ?? 0;
      work.requeued += Math.max(0, this.#world.counter(space, "events.drainInFlightSkips") ?? 0);
    }
  }
}

/** Who puts people back where none of the owner's clients is there to. */
const KEEPER = "keeper";

function firesForAccess(step: Step): boolean {
  if (step.verb !== "fire") return false;
  const handler = step.value[1].split("/")[2] ?? "";
  return asksAccess(handler) || handler === "vouch";
}

const DISTURBING = new Set([
  "crash",
  "stop",
  "start",
  "suspend",
  "freeze",
  "thaw",
  "steal",
  "disk",
  "clock",
  "offline",
  "online",
  "reload",
  "close",
  "connect",
  "acl",
  "crashAt",
  "create",
]);

/** True where the work had not ended by then: a hung world is left as it is. */
async function withinRealTime(work: Promise<void>): Promise<boolean> {
  let timer: { cancel(): void } | undefined;
  const hung = new Promise<boolean>((resolve) => {
    timer = systemClock.timer(HANG_MS, () => resolve(true));
  });
  const first = await Promise.race([work.then(() => false), hung]);
  timer?.cancel();
  return first;
}
