import {
  ACL_DOC,
  type AcceptedCommit,
  type DocId,
  instanceKey,
  jsonEqual,
  type JsonValue,
  nodeIdFor,
  parseInstanceKey,
  resolveScopeKey,
  type SpaceId,
  SPACE_SCOPE_KEY,
} from "@tidemark/protocol";
import type { ScenarioClient } from "../world/client.js";
import { FORGER, READER } from "../world/intruders.js";
import type { World } from "../world/world.js";
import type { Level } from "./access-changes.js";
import { levelOf, levelsIn } from "./access-oracle.js";
import { BOARD_CELLS, DERIVED } from "./board.js";
import { TraceCheck } from "../trace/trace-check.js";
import { differ } from "./differ.js";
import { LeaseLedger } from "./ledger.js";
import { type Complain, Oracle } from "./oracle.js";
import { initialOf } from "./reference.js";
import { shownAs, Witness, type WitnessedEvent } from "./witness.js";

/** One thing that does not hold. */
export interface Finding {
  readonly rule: string;
  readonly what: string;
  /** The step after which it showed, counted from 1. */
  readonly step: number;
}

const MOST_FINDINGS = 20;

/** Judges a world: its commit tables, its leases, what its clients are told and shown. It moves nothing. */
export class Judge {
  readonly findings: Finding[] = [];
  readonly witness: Witness;
  readonly ledger: LeaseLedger;
  /** The trace against the model of wave, lease and drain. */
  readonly model: TraceCheck;
  readonly oracles = new Map<string, Oracle>();
  readonly #world: () => World;
  readonly #watchers = new Set<string>();
  step = 0;

  constructor(clock: { now(): number }, world: () => World) {
    this.#world = world;
    this.witness = new Witness(
      this.complain,
      (event) => this.#fired(event),
      (space) => this.#world().observerOf(space).head(),
    );
    this.ledger = new LeaseLedger(clock as never, this.complain);
    this.model = new TraceCheck(
      (space) => this.#oracleOf(space)?.demandedFrom !== undefined,
      (_space, text) => this.complain("model", text),
      (space, stream) => this.#oracleOf(space)?.asks(stream) ?? false,
    );
  }

  readonly complain: Complain = (rule, what) => {
    const known = this.findings.some((each) => each.rule === rule && each.what === what);
    if (known || this.findings.length >= MOST_FINDINGS) return;
    this.findings.push({ rule, what, step: this.step });
  };

  /** A client that watches everything is judged by what it shows. */
  join(client: ScenarioClient, watchesAll: boolean): void {
    if (watchesAll) this.#watchers.add(client.name);
    else this.#watchers.delete(client.name);
  }

  watchesAll(name: string): boolean {
    return this.#watchers.has(name);
  }

  /** The oracles' knowledge of pieces follows the plan. */
  begin(): void {
    const { places } = this.#world();
    for (const name of places.spaceNames) {
      const whoIs = (who: string): string => places.grantee(who);
      this.oracles.set(name, new Oracle(places.space(name), whoIs, this.complain));
    }
    this.#knowPieces();
  }

  /** After every step: what must hold at any moment. */
  afterStep(): void {
    this.#knowPieces();
    for (const [name, oracle] of this.oracles) {
      const observer = this.#world().observer(name);
      const space = this.#world().places.space(name);
      const commits = this.model.compare(space, observer.commitsSince(oracle.head));
      if (this.model.hasCompacted(space)) oracle.entries.compacted = true;
      this.#judgeAuthors(commits);
      this.ledger.judge(space, commits, this.#world().leases.clockStep);
      oracle.read(commits);
      if (!oracle.entries.compacted) this.#judgeFrontiers(name, oracle);
    }
    this.#judgeAcknowledged();
    this.#judgeFrames();
    this.witness.judgeFalls();
  }

  /** What is not yet as it must be in the end; empty where the space is settled and everybody sees it. */
  unsettled(): readonly string[] {
    const left: string[] = [];
    const note: Complain = (rule, what) => void left.push(`${rule}: ${what}`);
    this.afterStep();
    for (const space of this.oracles.keys()) {
      if (!this.isAtRest(space))
        note("access", `the list of ${space} is not the one it began with`);
    }
    for (const [name, oracle] of this.oracles) {
      this.#judgeStore(name, oracle, note);
      this.#judgeEnds(oracle, note);
      for (const client of this.#online()) this.#judgeClient(name, oracle, client, note);
    }
    this.#judgeOutcomes(note);
    return left;
  }

  #online(): readonly ScenarioClient[] {
    return [...this.#world().clients.values()].filter(({ online }) => online);
  }

  #knowPieces(): void {
    const { places } = this.#world();
    for (const [name, oracle] of this.oracles) {
      for (const { id, pattern } of places.piecesOf(name)) oracle.knowPiece(id, pattern);
    }
  }

  #fired(event: WitnessedEvent): void {
    this.#oracleOf(event.space)?.entries.knowPayload(event.fired.eventId, event.payload);
  }

  #oracleOf(space: SpaceId): Oracle | undefined {
    const { places } = this.#world();
    const name = places.spaceNames.find((each) => places.space(each) === space);
    return name === undefined ? undefined : this.oracles.get(name);
  }

  /** What a client was told is durable is there. */
  #judgeAcknowledged(): void {
    for (const { space, fired, acked, client } of this.witness.events) {
      if (acked === undefined) continue;
      const entries = this.#oracleOf(space)?.entries.of(fired.stream, fired.eventId) ?? [];
      if (entries.some(({ entry }) => entry.seq === acked)) continue;
      this.complain(
        "lost",
        `${client.name} was told that ${fired.eventId} is at ${acked}: it is not`,
      );
    }
    for (const { space, seq, client } of this.witness.writes) {
      if ((this.#oracleOf(space)?.head ?? 0) >= seq) continue;
      this.complain("lost", `${client} was told that its edit is at ${seq}: the store ends before`);
    }
  }

  /** Nothing reaches a session of what was written after its person might read no more. */
  #judgeFrames(): void {
    for (const { client, space, seq, head } of this.witness.carried.splice(0)) {
      const access = this.#oracleOf(space)?.access;
      if (access === undefined || access.mayRead(client.identity.did, seq, head)) continue;
      this.complain("access", `${client.name} was sent what stands at ${seq}, and may not read it`);
    }
  }

  /** Whether the access list of a space, as it is stored, is the one that it began with. */
  isAtRest(space: string): boolean {
    const { places } = this.#world();
    const acl = places.aclOf(space);
    return acl === undefined || same(this.#levels(space), places.acl(acl) as unknown as JsonValue);
  }

  /** Who is online and shows a space as what it is not by its list: readable, or denied. */
  untold(space: string): readonly string[] {
    const { places } = this.#world();
    const levels = this.#levels(space);
    return this.#online().flatMap((client) => {
      const may = levelOf(levels, client.identity.did) !== undefined;
      const { state } = client.open(places.space(space)).state.value;
      const right = may ? state !== "denied" : state === "denied";
      return right
        ? []
        : [`${client.name} shows ${space} as ${state}, and may ${may ? "" : "not "}read it`];
    });
  }

  /** The first of some people who owns a space now. */
  ownerOf(space: string, people: readonly string[]): string | undefined {
    const levels = this.#levels(space);
    const { places } = this.#world();
    return people.find((name) => levels[places.grantee(name)] === "OWNER");
  }

  #levels(space: string): Readonly<Record<string, Level>> {
    return levelsIn(this.#world().observer(space).read(ACL_DOC, SPACE_SCOPE_KEY).value);
  }

  /** A process hands its wave to the store: what it asked of the access list is decided from here on. */
  closing(process: string, space: SpaceId): void {
    const world = this.#world();
    const holder = world.process(process)?.host?.holder;
    const head = world.observerOf(space).head();
    if (holder !== undefined) this.#oracleOf(space)?.access.closing(holder, head);
  }

  /** Nothing of an intruder is stored, and nothing under its name. */
  #judgeAuthors(commits: readonly AcceptedCommit[]): void {
    const { places } = this.#world();
    const strangers = [READER, FORGER].map((name) => places.user(name).did);
    for (const { seq, principal, appends } of commits) {
      const author = strangers.find(
        (did) => did === principal || appends.some(({ firedAt }) => firedAt.user === did),
      );
      if (author !== undefined) this.complain("intrusion", `commit ${seq} is by ${author}`);
    }
  }

  #judgeFrontiers(name: string, oracle: Oracle): void {
    const streams = new Set([...oracle.entries.all].map(({ entry }) => entry.stream));
    for (const stream of streams) {
      const expected = oracle.entries.frontier(stream);
      const actual = this.#world().observer(name).frontier(stream);
      if (actual !== expected) {
        this.complain("frontier", `the eventWatermark of ${stream} ${differ(expected, actual)}`);
      }
    }
  }

  #judgeStore(name: string, oracle: Oracle, note: Complain): void {
    const observer = this.#world().observer(name);
    for (const [key, expected] of oracle.cells) {
      const { id, scopeKey } = parseInstanceKey(key);
      const { value } = observer.read(id, scopeKey);
      if (same(value, expected)) continue;
      note("store", `${oracle.describe(key)} ${differ(expected, value)}`);
    }
    if (!this.#online().some((client) => this.#watchers.has(client.name))) return;
    for (const piece of this.#standing(name, oracle)) {
      const derived = oracle.derived(piece);
      for (const each of this.#known(DERIVED)) {
        const { value } = observer.read(nodeIdFor(piece, each), SPACE_SCOPE_KEY);
        if (!same(value, derived[each]) && !this.#isFailed(name, oracle, piece, each, value))
          note("derived", `${each} ${differ(derived[each], value)}`);
      }
    }
  }

  /** Pieces whose document is there: one whose creation was lost with its tab is none. */
  #standing(name: string, oracle: Oracle): readonly DocId[] {
    return this.#world()
      .places.piecesOf(name)
      .map(({ id }) => id)
      .filter((id) => oracle.stored(instanceKey(id, SPACE_SCOPE_KEY)) !== undefined);
  }

  #judgeEnds(oracle: Oracle, note: Complain): void {
    for (const { entry, handler, ended } of oracle.entries.all) {
      if (ended === undefined) note("pending", `${entry.eventId} (${handler}) has no end`);
    }
  }

  #judgeClient(name: string, oracle: Oracle, client: ScenarioClient, note: Complain): void {
    const { speculative, queuedEvents, status } = client.client;
    if (status.value.state !== "online") note("client", `${client.name} is ${status.value.state}`);
    if (speculative > 0) note("overlay", `${client.name} holds ${speculative} echoes`);
    if (queuedEvents > 0) note("queue", `${client.name} has ${queuedEvents} events to send`);
    if (!this.#watchers.has(client.name)) return;
    const me = { user: client.identity.did, session: client.sessionId };
    for (const piece of this.#standing(name, oracle)) {
      const derived = oracle.derived(piece);
      for (const cell of this.#known(Object.keys(BOARD_CELLS))) {
        const scopeKey = resolveScopeKey(BOARD_CELLS[cell]?.scope ?? "space", me);
        const expected = oracle.cell(piece, cell, scopeKey) ?? initialOf(cell);
        this.#judgeShown(client, piece, cell, expected, note);
      }
      for (const each of this.#known(DERIVED)) {
        const { value } = client.see({ piece, node: each } as never);
        if (this.#isFailed(name, oracle, piece, each, shownAs(value))) continue;
        this.#judgeShown(client, piece, each, derived[each], note);
      }
    }
  }

  #judgeShown(
    client: ScenarioClient,
    piece: DocId,
    node: string,
    expected: JsonValue | undefined,
    note: Complain,
  ): void {
    const { value, pending } = client.see({ piece, node } as never);
    if (pending)
      note(
        "view",
        `${client.name} sees ${node} as pending; it must be ${JSON.stringify(expected)}`,
      );
    else if (!same(shownAs(value), expected)) {
      note("view", `${client.name}'s ${node} ${differ(expected, value)}`);
    }
  }

  /** The nodes that the plan's own board has: an older plan lacks what came later. */
  #known(nodes: readonly string[]): readonly string[] {
    const { cells, computed, maps } = this.#world().places.patternFile("board");
    const own = { ...cells, ...computed, ...maps };
    return nodes.filter((node) => Object.hasOwn(own, node));
  }

  /** A request that failed has no answer until it is made again: that is its result, and stays. */
  #isFailed(
    space: string,
    oracle: Oracle,
    piece: DocId,
    node: string,
    value: JsonValue | undefined,
  ): boolean {
    if (node !== "body" || (value ?? null) !== null) return false;
    const { outside, places } = this.#world();
    const name = places.piecesOf(space).find(({ id }) => id === piece)?.name ?? "";
    const url = oracle.cell(piece, "url", SPACE_SCOPE_KEY) ?? initialOf("url");
    return outside.hasFailed(places.place(`${space}/${name}/page`), String(url));
  }

  /** A sender that is still there has been told how its event ended, and told the truth. */
  #judgeOutcomes(note: Complain): void {
    for (const { client, space, fired, payload } of this.witness.events) {
      if (!client.online) continue;
      const oracle = this.#oracleOf(space);
      const entries = oracle?.entries.of(fired.stream, fired.eventId) ?? [];
      const first = entries.find(({ duplicate }) => !duplicate);
      const stored = first === undefined ? "append-refused" : (first.status ?? "consequenced");
      const told = fired.outcome?.kind ?? "pending";
      if (told === stored) continue;
      if (told === "append-refused" && this.witness.refired.has(fired.eventId)) continue;
      note("outcome", `${client.name} was told ${told} of ${payload.k}; the store says ${stored}`);
    }
  }
}

function same(actual: JsonValue | undefined, expected: JsonValue | undefined): boolean {
  return jsonEqual(actual ?? null, expected ?? null);
}
