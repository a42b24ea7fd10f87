import {
  applyOperation,
  createIdSource,
  eventId,
  identityFromSeed,
  instanceKey,
  pieceIdFor,
  seededRandom,
  sessionId,
  SPACE_SCOPE_KEY,
  type Actor,
  type DocId,
  type EventId,
  type InstanceKey,
  type JsonValue,
  type Principal,
  type ScopeKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import type { EventMarks } from "@tidemark/events";
import { type Change, Scheduler } from "@tidemark/scheduler";
import { answeredValue, type EffectFailure, failedValue, storedMemo } from "../effect/value.js";
import type { HandlerOutcome } from "../handler/handler-run.js";
import { describePiece } from "../pattern/describe.js";
import type { Pattern } from "../pattern/pattern.js";
import { PatternRegistry } from "../pattern/registry.js";
import type { Piece } from "../piece/piece.js";
import type { RuntimeOptions } from "../runtime-options.js";
import { Runtime } from "../runtime.js";
import type {
  EffectRequest,
  Posture,
  ReadState,
  RuntimeReport,
  SealDestination,
  SealedRun,
  SealVerdict,
  StateView,
} from "../types.js";

/** What {@link createTestSpace} takes. */
export interface TestSpaceOptions {
  readonly posture?: Posture;
  readonly actor?: Actor;
  readonly recovered?: RuntimeOptions["recovered"];
  readonly ensureOwner?: RuntimeOptions["ensureOwner"];
  /** Documents of an earlier space, as a restart finds them. */
  readonly store?: ReadonlyMap<InstanceKey, JsonValue>;
}

/** What {@link TestSpace.fire} takes beside stream and payload. */
export interface FireOptions {
  readonly eventId?: EventId;
  readonly actor?: Actor;
  readonly at?: number;
  readonly marks?: EventMarks;
}

/** Which instance of a document is meant. */
export interface InstanceOptions {
  readonly scopeKey?: ScopeKey;
}

/**
 * One space in memory, for tests of patterns: a map for a store, a real scheduler, virtual time. Every
 * seal is applied at once. Times, ids and chance are the same in every run.
 */
export class TestSpace implements StateView, SealDestination {
  readonly clock = new VirtualClock();
  readonly space: SpaceId = identityFromSeed(new Uint8Array(32).fill(7)).did as string as SpaceId;
  readonly user: Principal = identityFromSeed(new Uint8Array(32).fill(1)).did;
  readonly scheduler: Scheduler;
  readonly runtime: Runtime;
  readonly patterns = new PatternRegistry();
  /** Every run sealed so far. */
  readonly sealed: SealedRun[] = [];
  readonly reports: RuntimeReport[] = [];
  readonly #store = new Map<InstanceKey, { value: JsonValue | undefined; seq: Seq }>();
  readonly #pending = new Set<InstanceKey>();
  readonly #failing = new Map<InstanceKey, unknown>();
  #seq = 0;
  #fired = 0;
  /** Answers every seal, when set. */
  refuse: ((run: SealedRun) => SealVerdict | undefined) | undefined;

  constructor(options: TestSpaceOptions = {}) {
    for (const [key, value] of options.store ?? []) this.#put(key, value);
    this.scheduler = new Scheduler({ clock: this.clock, yielding: false, report: () => undefined });
    this.runtime = new Runtime({
      space: this.space,
      patterns: this.patterns,
      scheduler: this.scheduler,
      view: this,
      seal: this,
      posture: options.posture ?? "serving",
      clock: this.clock,
      ids: createIdSource(this.clock, seededRandom(1)),
      actor: () => options.actor ?? this.actor(),
      report: (report) => this.reports.push(report),
      ...(options.ensureOwner === undefined ? {} : { ensureOwner: options.ensureOwner }),
      ...(options.recovered === undefined ? {} : { recovered: options.recovered }),
    });
  }

  /** The acting user, with a session of the given name. */
  actor(session = "s1"): Actor {
    return { user: this.user, session: sessionId(session) };
  }

  // StateView and SealDestination

  read(key: InstanceKey): ReadState {
    const error = this.#failing.get(key);
    if (error !== undefined) return { state: "failed", error };
    if (this.#pending.has(key)) return { state: "pending" };
    const held = this.#store.get(key);
    return { state: "held", value: held?.value, seq: held?.seq ?? (0 as Seq) };
  }

  seal(run: SealedRun): SealVerdict {
    const refused = this.refuse?.(run);
    if (refused !== undefined) return refused;
    this.sealed.push(run);
    const changes = run.writes.map(({ key, op }) => {
      const before = this.#store.get(key)?.value;
      return this.#moved(key, before, applyOperation(before, op));
    });
    return { ok: true, changes };
  }

  // Pieces

  /** Registers the pattern, writes a piece's document and starts it. */
  start(pattern: Pattern, argument?: unknown, name = "p"): Piece {
    this.patterns.register(pattern);
    const id = pieceIdFor(name);
    const value = describePiece(pattern, argument, id) as unknown as JsonValue;
    this.write(id, value);
    return this.runtime.startPiece(id, value);
  }

  /** An outsider's write of a whole document. */
  write(id: DocId, value: JsonValue | undefined, options: InstanceOptions = {}): void {
    const key = this.key(id, options);
    this.scheduler.notify([this.#moved(key, this.#store.get(key)?.value, value)], "external");
  }

  /** What the store holds. */
  stored(id: DocId, options: InstanceOptions = {}): JsonValue | undefined {
    return this.#store.get(this.key(id, options))?.value;
  }

  /** All that the store holds, for a restart. */
  contents(): ReadonlyMap<InstanceKey, JsonValue> {
    const held = [...this.#store].filter(([, { value }]) => value !== undefined);
    return new Map(held.map(([key, { value }]) => [key, value as JsonValue]));
  }

  key(id: DocId, options: InstanceOptions = {}): InstanceKey {
    return instanceKey(id, options.scopeKey ?? SPACE_SCOPE_KEY);
  }

  /** Demands a document, as a watcher does, and runs what that takes. */
  async demand(id: DocId): Promise<void> {
    this.scheduler.demand(this.key(id), true);
    await this.scheduler.settle();
  }

  settle(): Promise<unknown> {
    return this.scheduler.settle();
  }

  /** Handles an event, as a drain does after its preflight. */
  async fire(
    stream: DocId,
    payload: JsonValue = null,
    options: FireOptions = {},
  ): Promise<HandlerOutcome> {
    this.#fired += 1;
    const id = options.eventId ?? eventId(`e${this.#fired}`);
    const owner = this.runtime.streamOwner(stream);
    const name = owner?.handler.name ?? "unknown";
    this.scheduler.preflight(this.runtime.handlerReads(stream));
    return this.runtime.runHandler({
      stream,
      eventId: id,
      payload,
      at: options.at ?? this.clock.now(),
      ...(options.marks === undefined ? {} : { marks: options.marks }),
      context: {
        kind: "event-handler",
        action: `test/${name}@${stream}` as never,
        eventId: id,
        stream,
        actor: options.actor ?? this.actor(),
      },
    });
  }

  // Effects

  /** What an effectful node waits for; `undefined` where it waits for nothing. */
  asked(id: DocId): EffectRequest | undefined {
    const memo = storedMemo(this.stored(id));
    if (memo === undefined || memo.settled) return undefined;
    const target = this.key(id);
    return this.sealed
      .flatMap(({ effect }) => (effect?.memo === "miss" ? [effect.request] : []))
      .filter((request) => request.target === target && request.key === memo.key)
      .at(-1);
  }

  /** Answers what an effectful node waits for, as a server would. @throws Error where it waits for nothing */
  answer(id: DocId, result: JsonValue): void {
    this.write(id, answeredValue(this.#awaited(id).key, result));
  }

  /** Fails what an effectful node waits for. @throws Error where it waits for nothing */
  failEffect(id: DocId, failure: EffectFailure): void {
    this.write(id, failedValue(this.#awaited(id).key, failure));
  }

  #awaited(id: DocId): EffectRequest {
    const request = this.asked(id);
    if (request === undefined) throw new Error(`${id} waits for no answer`);
    return request;
  }

  /** Makes a document one that is not held, or held again with what the store has. */
  setPending(id: DocId, pending: boolean): void {
    const key = this.key(id);
    if (pending) this.#pending.add(key);
    else this.#pending.delete(key);
    if (!pending) this.runtime.arrived([key]);
  }

  /** Makes loads of a document fail, or work again. */
  setFailing(id: DocId, error: unknown): void {
    if (error === undefined) this.#failing.delete(this.key(id));
    else this.#failing.set(this.key(id), error);
  }

  #moved(key: InstanceKey, before: JsonValue | undefined, after: JsonValue | undefined): Change {
    this.#put(key, after);
    return { key, before, after };
  }

  #put(key: InstanceKey, value: JsonValue | undefined): void {
    this.#seq += 1;
    this.#store.set(key, { value, seq: this.#seq as Seq });
  }
}

/** See {@link TestSpace}. */
export function createTestSpace(options: TestSpaceOptions = {}): TestSpace {
  return new TestSpace(options);
}
