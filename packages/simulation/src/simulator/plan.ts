import { type JsonValue, type Random, seededRandom } from "@tidemark/protocol";
import { PATTERNS, STREAMS } from "./board.js";

/** A step as a file has it. */
export type RawStep = Readonly<Record<string, JsonValue>>;

/** A plan is a scenario file (FORMAT.md) without expectations: what must hold is judged from outside. */
export interface PlanFile {
  readonly id: string;
  readonly title: string;
  readonly seed: number;
  readonly patterns: Readonly<Record<string, JsonValue>>;
  readonly spaces: Readonly<Record<string, JsonValue>>;
  readonly clients: Readonly<Record<string, JsonValue>>;
  readonly policy: Readonly<Record<string, JsonValue>>;
  readonly steps: readonly RawStep[];
}

/** The gates that the parts of today reach. */
export const REACHED_GATES = [
  "append:before-admit",
  "feed:before-apply",
  "drain:before-queue",
  "preflight:before",
  "handler:before-run",
  "handler:after-run",
  "seal:before",
  "wave:before-commit",
  "wave:after-commit",
  "push:before",
  "lease:before-renew",
  "activate:after-lease",
  "park:before",
  "dispose:before",
] as const;

/** What can happen at a gate. */
export const GATE_FAULTS = ["hold", "fail", "crash"] as const;

type ReachedGate = (typeof REACHED_GATES)[number];

const CLIENTS: Readonly<Record<string, JsonValue>> = {
  a1: { user: "alice", session: "s1" },
  a2: { user: "alice", session: "s2" },
  b1: { user: "bob", session: "s1" },
  c1: { user: "carol", session: "s1", watch: [] },
};

const FULL_ACL = { alice: "OWNER", "*": "WRITE" } as const;
const EPISODES_BETWEEN_SETTLES = 3;
/** A dead process's lease runs out, and then the longest idle time of the policies. */
const PARKED_MS = 50_000;

/** Makes a plan of a seed. The same seed makes the same plan. */
export function makePlan(seed: number): PlanFile {
  return new Planner(seed).plan();
}

class Planner {
  readonly #seed: number;
  readonly #random: Random;
  readonly #steps: RawStep[] = [];
  readonly #pieces: string[] = ["A/p"];
  readonly #clients: string[];
  readonly #spaces: readonly string[];
  #keys = 0;
  #fired: string[] = [];
  #made = 0;
  #compacts = false;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#spaces = this.#chance(0.25) ? ["A", "B"] : ["A"];
    if (this.#chance(0.3)) this.#pieces.push("A/q");
    if (this.#spaces.length > 1) this.#pieces.push("B/r");
    const names = Object.keys(CLIENTS);
    this.#clients = names.slice(0, 2 + this.#below(names.length - 1));
  }

  plan(): PlanFile {
    const policy = this.#policy();
    // Cells that several people write at once begin somewhere.
    for (const piece of this.#pieces) this.#prelude(piece);
    this.#settle();
    const rounds = 2 + this.#below(3);
    for (let round = 0; round < rounds; round++) {
      const episodes = 1 + this.#below(EPISODES_BETWEEN_SETTLES);
      for (let i = 0; i < episodes; i++) this.#episode();
      this.#settle();
    }
    const { a1, ...others } = CLIENTS;
    const clients = Object.fromEntries(
      Object.entries({ a1, ...others }).filter(([name]) => this.#clients.includes(name)),
    ) as PlanFile["clients"];
    return {
      id: `SIM-${this.#seed}`,
      title: `seed ${this.#seed}`,
      seed: this.#seed,
      patterns: PATTERNS as unknown as PlanFile["patterns"],
      spaces: this.#spaceFiles(),
      clients,
      policy,
      steps: this.#steps,
    };
  }

  #spaceFiles(): Readonly<Record<string, JsonValue>> {
    return Object.fromEntries(
      this.#spaces.map((space) => [
        space,
        {
          acl: FULL_ACL,
          pieces: Object.fromEntries(
            ["p", "q", "r"]
              .filter((name) => this.#pieces.includes(`${space}/${name}`))
              .map((name) => [name, { pattern: "board" }]),
          ),
        },
      ]),
    );
  }

  #policy(): Readonly<Record<string, JsonValue>> {
    this.#compacts = this.#chance(0.2);
    return {
      flushDeadlineMs: this.#pick([100, 100, 40, 10]),
      idleParkMs: this.#pick([30_000, 2_000]),
      ...(this.#compacts
        ? { compactAfterEntries: 3, compactAfterMs: 1_000, compactMaxEntries: 12 }
        : {}),
      ...(this.#chance(0.15) ? { appendPacing: { burst: 2, ratePerSecond: 4 } } : {}),
    };
  }

  #prelude(piece: string): void {
    this.#add({ write: ["a1", `${piece}/form`, { a: "", b: "" }] });
    if (this.#chance(0.7)) {
      this.#add({ write: ["a1", `${piece}/note`, "start"] });
      this.#add({ write: ["a1", `${piece}/total`, 0] });
      this.#add({ write: ["a1", `${piece}/tags`, []] });
    }
  }

  #settle(): void {
    this.#add({ settle: [...this.#spaces] });
  }

  #episode(): void {
    const episodes: readonly [number, () => void][] = [
      [3, () => this.#burst(3 + this.#below(5))],
      [8, () => this.#held()],
      [5, () => this.#crashing()],
      [4, () => this.#failing()],
      [2, () => this.#killed()],
      [2, () => this.#stopped()],
      [3, () => this.#rivalry()],
      [2, () => this.#suspended()],
      [1, () => this.#skewed()],
      [3, () => this.#away()],
      [2, () => this.#reloaded()],
      [2, () => this.#visitors()],
      [3, () => this.#again()],
      [2, () => this.#swapped()],
      [2, () => this.#created()],
      [2, () => this.#demoted()],
      [2, () => this.#waiting()],
      [2, () => this.#parked()],
      [this.#compacts ? 4 : 0, () => this.#compacted()],
    ];
    this.#weighted(episodes)();
  }

  // — episodes —

  /** Several people act, with little or no time between. */
  #burst(actions: number): void {
    for (let i = 0; i < actions; i++) this.#action();
  }

  /** A gate holds while others act: races in the middle of a wave. */
  #held(): void {
    const gate = this.#gate();
    const space = this.#pick(this.#spaces);
    this.#arm(gate, { hold: gate, space, ...(this.#chance(0.2) ? { times: 2 } : {}) });
    this.#burst(1 + this.#below(3));
    this.#reached(gate, space);
    this.#burst(1 + this.#below(4));
    if (this.#chance(0.3)) this.#add({ advance: this.#pick([5, 120, 1_000]) });
    this.#add({ release: gate, space });
    if (this.#chance(0.5)) this.#burst(1 + this.#below(2));
  }

  /** A process dies at a gate and is started again, or another is. */
  #crashing(): void {
    const gate = this.#gate();
    this.#arm(gate, { crashAt: gate, ...this.#maybeSpace() });
    this.#burst(2 + this.#below(4));
    this.#provoke(gate);
    this.#add({ advance: this.#pick([0, 50, 400]) });
    this.#add({ start: this.#pick(["server", "server", "rival"]) });
    if (this.#chance(0.5)) this.#burst(1 + this.#below(3));
  }

  #failing(): void {
    const gate = this.#gate();
    const failure = this.#pick(["io", "timeout", "connection", "conflict", "protocol"]);
    this.#arm(gate, {
      fail: gate,
      ...this.#maybeSpace(),
      with: failure,
      ...(this.#chance(0.3) ? { times: 2 + this.#below(2) } : {}),
    });
    this.#burst(2 + this.#below(4));
    this.#provoke(gate);
  }

  #killed(): void {
    this.#burst(1 + this.#below(3));
    this.#add({ crash: this.#pick(["server", "server", "rival"]) });
    this.#burst(1 + this.#below(2));
    if (this.#chance(0.5)) this.#add({ advance: this.#pick([100, 3_000, 16_000]) });
    this.#add({ start: this.#pick(["server", "rival"]) });
  }

  #stopped(): void {
    this.#burst(1 + this.#below(3));
    this.#add({ stop: this.#pick(["server", "server", "rival"]) });
    this.#burst(1 + this.#below(2));
    this.#add({ start: this.#pick(["server", "rival"]) });
  }

  /** Two processes on the same stores; the one that serves stands still beyond its lease, mid-wave or not. */
  #rivalry(): void {
    this.#add({ start: "rival" });
    this.#burst(1 + this.#below(3));
    const gate = this.#chance(0.6)
      ? this.#pick(["wave:before-commit", "seal:before"] as const)
      : undefined;
    if (gate) {
      this.#add({ hold: gate, space: "A" });
      this.#burst(1 + this.#below(2));
      this.#reached(gate, "A");
    }
    this.#add({ suspend: "server", ms: this.#pick([3_000, 16_000, 25_000]) });
    this.#burst(1 + this.#below(3));
    if (gate) this.#add({ release: gate, space: "A" });
    this.#add({ advance: this.#pick([0, 200, 6_000]) });
    if (this.#chance(0.6)) {
      this.#add({ [this.#pick(["crash", "stop"])]: this.#pick(["server", "rival"]) });
    }
  }

  #suspended(): void {
    this.#burst(1 + this.#below(2));
    this.#add({ suspend: "server", ms: this.#pick([100, 4_000, 16_000, 40_000]) });
    this.#burst(1 + this.#below(2));
  }

  #skewed(): void {
    this.#add({ clock: ["server", this.#pick([-180_000, -5_000, 5_000, 180_000])] });
    this.#burst(2);
    this.#add({ advance: 6_000 });
  }

  #away(): void {
    const client = this.#client();
    this.#add({ offline: client });
    for (let i = this.#below(3); i >= 0; i--) this.#fire(client);
    if (this.#chance(0.5)) this.#edit(client);
    this.#burst(1 + this.#below(2));
    if (this.#chance(0.4)) this.#add({ advance: this.#pick([200, 5_000]) });
    this.#add({ online: client });
  }

  #reloaded(): void {
    const client = this.#client();
    this.#fire(client);
    if (this.#chance(0.5)) this.#fire(client);
    this.#add({ reload: client });
    this.#fire(client);
  }

  /** Somebody comes and goes. */
  #visitors(): void {
    const name = `v${(this.#made += 1)}`;
    const user = this.#pick(["alice", "bob", "dave"]);
    const watch = this.#chance(0.3) ? { watch: [] } : {};
    this.#add({ connect: { [name]: { user, session: name, ...watch } } });
    this.#fire(name);
    this.#burst(1);
    if (this.#chance(0.7)) this.#add({ close: name });
  }

  /** The same event again: at once, or after it was consumed. */
  #again(): void {
    const client = this.#client();
    const name = this.#fire(client);
    if (this.#chance(0.5)) this.#add({ advance: this.#pick([0, 150]) });
    this.#add({ refire: [client, name] });
    if (this.#fired.length > 3) {
      this.#add({ refire: [this.#client(), this.#pick(this.#fired)] });
    }
  }

  #swapped(): void {
    const piece = this.#pick(this.#pieces);
    const back = this.#chance(0.6);
    this.#burst(1 + this.#below(2));
    this.#add({ swap: ["a1", piece, "board2"] });
    this.#burst(1 + this.#below(3));
    if (this.#chance(0.4)) this.#fire(this.#client(), piece, "gone");
    if (back) {
      this.#add({ swap: ["a1", piece, "board"] });
      this.#burst(1);
    }
  }

  #created(): void {
    const name = `n${(this.#made += 1)}`;
    const space = this.#pick(this.#spaces);
    this.#add({ create: ["a1", space, name, { pattern: this.#pick(["board", "board2"]) }] });
    this.#pieces.push(`${space}/${name}`);
    this.#fire("a1", `${space}/${name}`);
    this.#burst(1 + this.#below(2));
  }

  #demoted(): void {
    const space = this.#pick(this.#spaces);
    const levels = { alice: "OWNER", bob: "READ", "*": "WRITE" };
    if (this.#chance(0.5)) this.#burst(1);
    this.#add({ acl: ["a1", space, levels] });
    this.#burst(1 + this.#below(2));
    this.#fire("b1");
    this.#burst(1);
    this.#add({ acl: ["a1", space, FULL_ACL] });
  }

  /** A handler waits; what comes behind it waits with it. */
  #waiting(): void {
    const piece = this.#pick(this.#pieces);
    this.#fire(this.#client(), piece, "slow");
    this.#burst(1 + this.#below(3));
    if (this.#chance(0.4)) this.#add({ advance: this.#pick([50, 500]) });
    if (this.#chance(0.3)) this.#add({ crash: "server" }, { start: "server" });
    this.#add({ let: "slow" });
  }

  /** Everybody leaves, the space parks, and somebody comes back. */
  #parked(): void {
    for (const client of this.#clients) this.#add({ offline: client });
    const held = this.#chance(0.3);
    if (held) {
      this.#add({
        [this.#pick(["hold", "crashAt"])]: this.#pick(["park:before", "dispose:before"]),
      });
      this.#sendVisitorsAway();
    }
    this.#add({ advance: this.#pick([2_500, 31_000, 650_000]) });
    if (held) this.#add({ advance: PARKED_MS });
    for (const client of this.#clients) this.#add({ online: client });
    this.#burst(2);
  }

  #compacted(): void {
    this.#burst(6);
    this.#add({ advance: 1_500 });
    this.#add({ compact: this.#pick(this.#spaces) });
    if (this.#fired.length > 0) this.#add({ refire: [this.#client(), this.#pick(this.#fired)] });
  }

  // — single acts —

  #action(): void {
    this.#weighted<() => void>([
      [10, () => void this.#fire(this.#client())],
      [3, () => this.#edit(this.#client())],
      [1, () => this.#add({ idle: true })],
      [1, () => this.#add({ advance: this.#pick([1, 20, 110, 700]) })],
    ])();
  }

  #fire(client: string, piece = this.#pick(this.#pieces), handler?: string): string {
    const usual = STREAMS.filter((name) => name !== "slow" && name !== "gone" && name !== "hop");
    const name = `e${(this.#keys += 1)}`;
    const payload = { k: `k${this.#keys}`, n: this.#below(7) };
    const stream =
      handler ??
      this.#weighted(
        usual.map((each) => [each === "rmw" || each === "inc" || each === "chain" ? 3 : 1, each]),
      );
    this.#add({ fire: [client, `${piece}/${stream}`, payload], as: name });
    this.#fired.push(`$${name}`);
    return `$${name}`;
  }

  #edit(client: string): void {
    const piece = this.#pick(this.#pieces);
    const text = `t${(this.#keys += 1)}`;
    this.#weighted<() => void>([
      [3, () => this.#add({ write: [client, `${piece}/note`, text] })],
      [3, () => this.#add({ write: [client, `${piece}/total`, this.#below(100)] })],
      [2, () => this.#add({ write: [client, `${piece}/form`, text, [this.#pick(["a", "b"])]] })],
      [1, () => this.#add({ write: [client, `${piece}/form`, { a: text, b: text }] })],
      [
        3,
        () =>
          this.#add({
            patch: [client, `${piece}/tags`, [{ op: "append", path: [], value: text }]],
          }),
      ],
      [1, () => this.#add({ write: [client, `${piece}/tags`, [text]] })],
      [1, () => this.#add({ write: [client, `${piece}/mine`, [text]] })],
      [1, () => this.#add({ write: [client, `${piece}/last`, text] })],
      [1, () => this.#add({ write: [client, `${piece}/tab`, this.#below(50)] })],
    ])();
  }

  /** Sets something at a gate. A process passes the one of its activation before it could be set on it. */
  #arm(gate: ReachedGate, setting: RawStep): void {
    if (gate !== "activate:after-lease") this.#add(setting);
    else this.#add({ stop: "server" }, setting, { start: "server" });
  }

  /** Nobody may be left where a space is to park. */
  #sendVisitorsAway(): void {
    for (let i = 1; i <= this.#made; i++) this.#add({ close: `v${i}` });
  }

  /** Some gates are passed only where time passes, or where somebody comes. */
  #provoke(gate: ReachedGate): void {
    if (gate === "lease:before-renew") this.#add({ advance: 6_000 });
    if (gate === "park:before" || gate === "dispose:before") {
      for (const client of this.#clients) this.#add({ offline: client });
      this.#sendVisitorsAway();
      this.#add({ advance: PARKED_MS }, { advance: 610_000 });
      for (const client of this.#clients) this.#add({ online: client });
    }
  }

  #reached(gate: ReachedGate, space: string): void {
    this.#provoke(gate);
    this.#add({ reached: gate, space, within: 300 });
  }

  // — chance —

  #gate(): ReachedGate {
    return this.#weighted(
      REACHED_GATES.map((gate) => [
        gate.startsWith("wave") || gate === "seal:before" ? 3 : 1,
        gate,
      ]),
    );
  }

  #maybeSpace(): RawStep {
    return this.#chance(0.5) ? { space: this.#pick(this.#spaces) } : {};
  }

  #client(): string {
    return this.#pick(this.#clients);
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  #below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  #pick<T>(from: readonly T[]): T {
    const item = from[this.#below(from.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  #weighted<T>(from: readonly (readonly [number, T])[]): T {
    const sum = from.reduce((total, [weight]) => total + weight, 0);
    let left = this.#random.next() * sum;
    for (const [weight, item] of from) {
      left -= weight;
      if (left < 0) return item;
    }
    return (from[0] as readonly [number, T])[1];
  }

  #add(...steps: RawStep[]): void {
    this.#steps.push(...steps);
  }
}
