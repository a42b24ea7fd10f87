import { isTidemarkError, systemClock } from "@tidemark/protocol";
import { StepFailure } from "../run/failure.js";
import { act } from "../run/steps.js";
import { parseScenario, parseStep, type Scenario } from "../scenario/file.js";
import type { Step } from "../scenario/steps.js";
import type { Observation } from "../trace/observation.js";
import { Recorder } from "../trace/recorder.js";
import type { WorldWatch } from "../world/watch.js";
import { World } from "../world/world.js";
import { asksAccess } from "./access-changes.js";
import { applies } from "./applies.js";
import { Calm } from "./calm.js";
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
  readonly #calm: Calm;
  readonly #observed: Observation[] = [];
  readonly #coverage = new Coverage();
  readonly #trace: string[] = [];
  readonly #done: RawStep[] = [];
  readonly #work = emptyWork();
  #alive = "";

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
    this.#calm = new Calm({
      world: this.#world,
      judge: this.#judge,
      insert: (raw) => this.#insert(raw),
      look: () => this.#look(),
      onNudge: () => void (this.#work.nudges += 1),
    });
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
      for (const oracle of this.#judge.oracles.values()) oracle.entries.compacted = true;
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

  async #settle(raw: RawStep): Promise<void> {
    this.#work.settles += 1;
    const left = await this.#calm.settle();
    this.#done.push(raw);
    for (const what of left) this.#judge.complain("settled", what);
    this.#demand();
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
      work.consequenced += oracle.entries.consequenced;
      work.errored += oracle.entries.errored;
      work.passedOver += oracle.entries.passedOver;
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
