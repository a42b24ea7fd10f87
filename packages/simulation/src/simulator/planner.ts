import type { JsonValue } from "@tidemark/protocol";
import { FORGER } from "../world/intruders.js";
import { ACCESS_CHANGES, asksAccess } from "./access-changes.js";
import { STREAMS } from "./board.js";
import { Chance } from "./chance.js";
import { type RawStep, LOOP_GATES, type ReachedGate } from "./plan-file.js";

/** The people of every plan; a plan has some of them. */
export const CLIENTS: Readonly<Record<string, JsonValue>> = {
  a1: { user: "alice", session: "s1" },
  a2: { user: "alice", session: "s2" },
  b1: { user: "bob", session: "s1" },
  c1: { user: "carol", session: "s1", watch: [] },
};

/** The access list that every space has at rest. */
export const FULL_ACL = {
  alice: "OWNER",
  bob: "WRITE",
  carol: "WRITE",
  dave: "WRITE",
  [FORGER]: "WRITE",
  "*": "READ",
} as const;

/** What people fire without a reason of its own. */
const USUAL = STREAMS.filter(
  (name) => !["slow", "gone", "hop", "vouch"].includes(name) && !asksAccess(name),
);

/** A dead process's lease runs out, and then the longest idle time of the policies. */
export const PARKED_MS = 50_000;
/** Longer than what an idle park keeps for the next tenure. */
const DISPOSED_MS = 610_000;

/** A plan while it is made: who and what there is, and the single acts that episodes are made of. */
export class Planner {
  readonly chance: Chance;
  readonly steps: RawStep[] = [];
  readonly pieces: string[] = ["A/p"];
  readonly clients: readonly string[];
  readonly spaces: readonly string[];
  /** Names of the events fired so far. */
  readonly fired: string[] = [];
  /** Whether the plan's policy compacts streams. */
  readonly compacts: boolean;
  #keys = 0;
  #made = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
    this.spaces = this.chance.of(0.25) ? ["A", "B"] : ["A"];
    if (this.chance.of(0.3)) this.pieces.push("A/q");
    if (this.spaces.length > 1) this.pieces.push("B/r");
    const names = Object.keys(CLIENTS);
    this.clients = names.slice(0, 2 + this.chance.below(names.length - 1));
    this.compacts = this.chance.of(0.2);
  }

  add(...steps: readonly RawStep[]): void {
    this.steps.push(...steps);
  }

  settle(): void {
    this.add({ settle: [...this.spaces] });
  }

  // — what people do —

  /** Several people act, with little or no time between. */
  burst(actions: number): void {
    for (let i = 0; i < actions; i++) this.#action();
  }

  #action(): void {
    const { chance } = this;
    chance.weighted<() => void>([
      [10, () => void this.fire(this.client())],
      [3, () => this.edit(this.client())],
      [1, () => this.add({ idle: true })],
      [1, () => this.add({ advance: chance.pick([1, 20, 110, 700]) })],
    ])();
  }

  /** Fires an event, and says how later steps name it. */
  fire(client: string, piece = this.piece(), handler?: string, n?: number): string {
    const { chance } = this;
    const name = `e${this.key()}`;
    const payload = { k: `k${this.#keys}`, n: n ?? chance.below(7) };
    const stream =
      handler ??
      chance.weighted(
        USUAL.map((each) => [each === "rmw" || each === "inc" || each === "chain" ? 3 : 1, each]),
      );
    this.add({ fire: [client, `${piece}/${stream}`, payload], as: name });
    this.fired.push(`$${name}`);
    return `$${name}`;
  }

  /** Fires an event whose handler changes the access list of a space, as a rule as its owner. */
  changeAccess(space: string, client = this.chance.of(0.6) ? "a1" : this.client()): string {
    const { chance } = this;
    const pieces = this.pieces.filter((piece) => piece.startsWith(`${space}/`));
    const handler = chance.weighted([
      [6, "invite"],
      [4, "expel"],
      [1, "cede"],
      [2, "vouch"],
    ]);
    const asked = ACCESS_CHANGES[handler === "vouch" ? "invite" : handler];
    return this.fire(client, chance.pick(pieces), handler, chance.below(asked?.length ?? 1));
  }

  edit(client: string): void {
    const { chance } = this;
    const piece = this.piece();
    const text = `t${this.key()}`;
    const write = (node: string, value: JsonValue, ...path: readonly JsonValue[][]): void =>
      this.add({ write: [client, `${piece}/${node}`, value, ...path] });
    chance.weighted<() => void>([
      [3, () => write("note", text)],
      [3, () => write("total", chance.below(100))],
      [2, () => write("form", text, [chance.pick(["a", "b"])])],
      [1, () => write("form", { a: text, b: text })],
      [3, () => this.#append(client, `${piece}/tags`, text)],
      [1, () => write("tags", [text])],
      [1, () => write("mine", [text])],
      [1, () => write("last", text)],
      [1, () => write("tab", chance.below(50))],
      [1, () => write("url", chance.pick(["", "https://x.test/1", "https://x.test/2"]))],
    ])();
  }

  #append(client: string, address: string, text: string): void {
    this.add({ patch: [client, address, [{ op: "append", path: [], value: text }]] });
  }

  // — gates —

  gate(): ReachedGate {
    return this.chance.weighted(
      LOOP_GATES.map((gate) => [gate.startsWith("wave") || gate === "seal:before" ? 3 : 1, gate]),
    );
  }

  /** Sets something at a gate. A process passes the one of its activation before it could be set on it. */
  arm(gate: ReachedGate, setting: RawStep): void {
    if (gate !== "activate:after-lease") this.add(setting);
    else this.add({ stop: "server" }, setting, { start: "server" });
  }

  /** Some gates are passed only where time passes, or where somebody comes. */
  provoke(gate: ReachedGate): void {
    if (gate === "lease:before-renew") this.add({ advance: 6_000 });
    if (gate === "park:before" || gate === "dispose:before") {
      for (const client of this.clients) this.add({ offline: client });
      this.sendVisitorsAway();
      this.add({ advance: PARKED_MS }, { advance: DISPOSED_MS });
      for (const client of this.clients) this.add({ online: client });
    }
  }

  reached(gate: ReachedGate, space: string): void {
    this.provoke(gate);
    this.add({ reached: gate, space, within: 300 });
  }

  // — who and where —

  client(): string {
    return this.chance.pick(this.clients);
  }

  piece(): string {
    return this.chance.pick(this.pieces);
  }

  space(): string {
    return this.chance.pick(this.spaces);
  }

  maybeSpace(): RawStep {
    return this.chance.of(0.5) ? { space: this.space() } : {};
  }

  /** A number that no other has: what people write tells who wrote it. */
  key(): number {
    return (this.#keys += 1);
  }

  /** A name for somebody who comes, or something that is made. */
  newName(letter: "v" | "n"): string {
    return `${letter}${(this.#made += 1)}`;
  }

  /** Nobody may be left where a space is to park. */
  sendVisitorsAway(): void {
    for (let i = 1; i <= this.#made; i++) this.add({ close: `v${i}` });
  }
}
