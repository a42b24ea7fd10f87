import type { Engine, ServedSpace } from "@tidemark/memory-engine";
import {
  createTestServer,
  type TestClient,
  type TestServer,
} from "@tidemark/memory-engine/testing";
import type {
  DocId,
  EventId,
  HolderId,
  InstanceKey,
  JsonValue,
  Seq,
  SpaceId,
} from "@tidemark/protocol";
import { Scheduler } from "@tidemark/scheduler";
import type { DeliveryResult } from "../../src/drain/delivery.js";
import { Drain } from "../../src/drain/drain.js";
import type { Runnable } from "../../src/drain/places.js";
import { resolvePolicy } from "../../src/policy.js";
import { Replica } from "../../src/replica/replica.js";
import { SpaceStats } from "../../src/stats/counters.js";
import type { StreamLoad } from "../../src/tenure/structure-loads.js";
import { WaveAccumulator } from "../../src/wave/accumulator.js";
import { commitWave } from "../../src/wave/commit-wave.js";
import { endDraft } from "../../src/wave/draft.js";

const HOLDER = "server/bench" as HolderId;

export const stream = (name: string) => `stream:${name}` as DocId;

/** A drain over a real store, queue and wave, whose turns a test takes one by one. */
export class DrainBench {
  readonly stats = new SpaceStats();
  readonly ran: string[] = [];
  /** What becomes of an event; where nothing is said it ends well. */
  readonly results = new Map<string, DeliveryResult | Promise<DeliveryResult>>();
  /** Events that are sealed at once, and of which the drain is told when their promise is. */
  readonly toldLate = new Map<string, Promise<DeliveryResult>>();
  /** Streams that nothing handles, and why. */
  readonly unhandled = new Map<DocId, StreamLoad>();
  readonly pendingLoads = new Set<InstanceKey>();
  readonly scheduler: Scheduler;
  readonly accumulator: WaveAccumulator;
  readonly drain: Drain;
  wakes = 0;
  recalls = 0;
  live = true;
  /** What a barrier does; the replica follows the store unless a test says otherwise. */
  catchUp = (): void => this.follow();
  onPrepare = (): void => undefined;
  readonly #replica: Replica;
  readonly #served: ServedSpace;

  private constructor(
    readonly t: TestServer,
    readonly space: SpaceId,
    readonly client: TestClient,
  ) {
    this.#served = t.server.space(space);
    const { clock } = t;
    this.scheduler = new Scheduler({ clock, yielding: true, report: () => undefined });
    this.#replica = new Replica({
      engine: this.engine,
      seq: this.engine.head(),
      maxDocuments: 100,
      isRead: () => false,
      isOwn: ({ holder }) => holder === HOLDER,
    });
    this.accumulator = new WaveAccumulator(this.#replica);
    this.drain = new Drain({
      entries: this.engine.entries,
      clock,
      policy: resolvePolicy({ deferralThreshold: 2, deferralBackstopMs: 100 }),
      stats: this.stats,
      accumulator: this.accumulator,
      queue: this.scheduler,
      seq: () => this.#replica.seq,
      catchUp: () => {
        this.catchUp();
        return true;
      },
      prepare: (id) => {
        this.onPrepare();
        return this.unhandled.get(id) ?? { ok: true };
      },
      isPending: (key) => this.pendingLoads.has(key),
      deliver: (event) => this.#deliver(event),
      recall: () => void (this.recalls += 1),
      pass: (gate, event) => t.gates.pass(gate, { space, event }),
      live: () => this.live,
      wake: () => void (this.wakes += 1),
      reportFailure: () => undefined,
    });
  }

  static async create(): Promise<DrainBench> {
    const t = createTestServer();
    const client = await t.connected("ana");
    const space = await t.space("home", client, { "*": "WRITE" });
    await client.call("space.open", { space, watches: [] });
    const bench = new DrainBench(t, space, client);
    bench.engine.lease.acquire(HOLDER, 1e9);
    return bench;
  }

  get engine(): Engine {
    const engine = this.t.engines.get(this.space);
    if (engine === undefined) throw new Error("the space has no store");
    return engine;
  }

  get events() {
    return this.stats.events;
  }

  /** The replica stands where the store does, and the drain knows what came with it. */
  follow(): void {
    const commits = this.engine.commitsSince(this.#replica.seq);
    this.#replica.apply(commits);
    for (const commit of commits) this.drain.offer(commit);
  }

  /** An event of its own commit. */
  async append(id: string, to = "s", payload: JsonValue = null): Promise<Seq> {
    const entry = { eventId: id as EventId, payload };
    const answer = await this.client.append(this.space, stream(to), entry);
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.result.seq;
  }

  /** An event that is in the store in this very turn. */
  appendAtOnce(id: string, to = "s"): void {
    const firedAt = { user: this.client.identity.did, session: this.client.sessionId };
    this.engine.transact((tx) => {
      tx.append({ stream: stream(to), eventId: id as EventId, payload: null, firedAt });
      return tx.commit({ class: "authored" });
    });
  }

  /** One pass, and everything that it queued. */
  async pass(): Promise<void> {
    await this.drain.scan();
    await this.scheduler.settle();
  }

  /** Commits what is sealed, and tells the drain what became of it. */
  commit(): void {
    const wave = this.accumulator.close();
    const header = { from: this.engine.watermark(), to: this.engine.watermark(), maxBytes: 1e9 };
    const own = { holder: HOLDER, since: 0 as Seq };
    const verdict = commitWave(this.#served, own, wave.contributions, header);
    if (!verdict.ok) throw verdict.error;
    verdict.release();
    this.accumulator.accept(wave, verdict.plan, verdict.commit?.seq ?? this.#replica.seq);
    for (const one of wave.contributions) this.drain.settle(one, verdict.plan.fates.get(one.id));
  }

  /** The wave lands without anything of what is sealed. */
  turnDown(): void {
    const wave = this.accumulator.close();
    this.accumulator.abort(wave);
    for (const one of wave.contributions) {
      this.drain.settle(one, { kind: "requeued", reason: "raced" });
    }
  }

  /** Another tenure ends everything that is pending. */
  consumedElsewhere(): void {
    const { engine } = this;
    const pending = engine.entries.pending();
    engine.transact((tx) => {
      for (const { stream: id, seq, index, eventId } of pending) {
        tx.mark({ stream: id, seq, index, eventId });
      }
      return tx.commit({ class: "derived", holder: "server/other" as HolderId });
    });
  }

  async stop(): Promise<void> {
    this.drain.close();
    await this.t.stop();
  }

  #deliver(event: Runnable): DeliveryResult | Promise<DeliveryResult> {
    this.ran.push(event.eventId);
    const result = this.results.get(event.eventId) ?? { kind: "sealed" };
    if (!(result instanceof Promise) && result.kind === "sealed") {
      this.accumulator.seal(endDraft(event, { kind: "succeeded" }));
    }
    return this.toldLate.get(event.eventId) ?? result;
  }
}
