import { marksIn, type EventMarks } from "@tidemark/events";
import { instanceKey, isTidemarkError, resolveScopeKey, TidemarkError } from "@tidemark/protocol";
import type {
  AppendEntry,
  ConfirmedRead,
  DocId,
  DocOperation,
  EventId,
  FrameMessage,
  InstanceKey,
  JsonValue,
  LocalSeq,
  Precondition,
  Seq,
  SpaceId,
  ValueOperation,
} from "@tidemark/protocol";
import { EventRecord } from "../handle/fired-event.js";
import type { FiredEvent } from "../handle/fired-event.js";
import { failedOutcome } from "../handle/outcome.js";
import type { Outcome } from "../handle/outcome.js";
import type { OutboxItem } from "../queue/lane.js";
import { Outbox } from "../queue/outbox.js";
import type { SendOutcome } from "../queue/outbox.js";
import { readRefusal } from "../queue/verdict.js";
import type { ClientContext } from "./context.js";
import { LocalSpace } from "./local-space.js";
import type { Committed, Outgoing, OutgoingAppend, OutgoingCommit } from "./outgoing.js";
import { Outstanding } from "./outstanding.js";
import type { End } from "./outstanding.js";
import { SettledWaiters } from "./settled-waiters.js";
import { FrameGate } from "./frame-gate.js";
import type { Footing } from "./resume-point.js";
import { SpaceLink } from "./space-link.js";
import { WatchBook } from "./watch-book.js";

/** An authored commit to be made. */
export interface CommitRequest {
  readonly ops: readonly DocOperation[];
  readonly reads?: readonly ConfirmedRead[];
  readonly preconditions?: readonly Precondition[];
}

/** A frame as it came. */
interface Arrival {
  readonly frame: FrameMessage;
  readonly footing: Footing | undefined;
  /** Its number among all that came: what was known before it is told from what was not. */
  readonly nth: number;
}

const NOTHING = 0 as Seq;
const SETTLED: SendOutcome = { kind: "settled" };

/**
 * One space of a client: what it holds, what it has sent and what it is still to send, wired to the
 * session. The parts decide; this says who is told of what.
 */
export class SpaceCore {
  readonly id: SpaceId;
  readonly context: ClientContext;
  readonly local: LocalSpace;
  readonly link: SpaceLink;
  readonly outbox: Outbox<Outgoing>;
  readonly watches = new WatchBook();
  readonly #outstanding = new Outstanding();
  readonly #waiters = new SettledWaiters();
  readonly #gate: FrameGate<Arrival>;
  readonly #ready: Promise<void>;
  #markReady: () => void = () => undefined;
  #lastAuthored: Seq = NOTHING;
  #arrivals = 0;

  constructor(id: SpaceId, context: ClientContext) {
    this.id = id;
    this.context = context;
    this.#ready = new Promise((resolve) => (this.#markReady = resolve));
    this.#gate = new FrameGate<Arrival>((arrival) => void this.#integrate(arrival));
    this.local = new LocalSpace({
      space: id,
      registry: context.registry,
      clock: context.clock,
      ids: context.ids,
      echoBudgetMs: context.policy.echoBudgetMs,
      actor: () => context.actor(),
      awaited: (key) => this.watches.awaits(key, context.actor()),
      report: (error) => context.report(error),
    });
    this.outbox = new Outbox<Outgoing>({
      clock: context.clock,
      random: context.random,
      pacing: context.policy.appendPacing,
      backoff: context.policy.backoff,
      lane: laneOf,
      send: (item) => this.#send(item),
    });
    this.link = new SpaceLink({
      context,
      space: id,
      watches: this.watches,
      position: () => this.local.replica.position.seq,
      outstanding: () => this.#outstanding.refs(),
      onOpened: () => this.outbox.online(),
    });
  }

  /**
   * Resolves when the first frame is integrated; what one who may not read is told of its own events is
   * none of the space.
   */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Events of this client whose handling has not ended. */
  get outstanding(): number {
    return this.#outstanding.size;
  }

  // What the session tells

  online(): void {
    const unanswered = this.outbox
      .items()
      .filter(({ body }) => body.kind === "commit" && body.sent);
    this.#gate.holdFor(unanswered.map(({ localSeq }) => localSeq));
    this.link.online();
  }

  offline(): void {
    this.#gate.clear();
    this.outbox.offline();
    this.link.offline();
  }

  /** The session is another one now: rows of the earlier one's own instances are not its business. */
  renewed(): void {
    this.watches.reset();
    this.link.forget();
    void this.local.forget();
  }

  frame(frame: FrameMessage): void {
    this.#arrivals += 1;
    this.#gate.frame({ frame, footing: this.link.resume.told, nth: this.#arrivals });
  }

  revoked(reason: string): void {
    this.link.revoked(reason);
  }

  // What the user does

  /** Fires an event, with what is attested of it: its echo runs, and its append is queued. */
  fire(stream: DocId, payload: JsonValue, attested: EventMarks = {}): FiredEvent {
    const { context } = this;
    const eventId = context.ids.ulid() as EventId;
    const record = new EventRecord({ eventId, stream, readResult: () => this.readReceipt(record) });
    const marks = marksIn(attested);
    const entry: AppendEntry = { eventId, payload, clientSeq: context.nextClientSeq(), ...marks };
    const tooLarge = context.sizeError({ stream, entry });
    if (tooLarge !== undefined) {
      record.settle(failedOutcome("append-refused", tooLarge.message, eventId, tooLarge));
      record.markEchoed();
      return record;
    }
    this.#outstanding.add(record);
    const actor = context.actor();
    const at = context.clock.now();
    const echo = this.local.fire({ eventId, stream, payload, marks, actor, at });
    void echo.then(
      () => record.markEchoed(),
      (error) => context.report(error),
    );
    const body: OutgoingAppend = { kind: "append", stream, entry, record };
    this.outbox.add({ localSeq: context.session.nextLocalSeq(), body });
    return record;
  }

  /** Makes an authored commit: it shows at once, and leaves the screen again if it is refused. */
  commit(request: CommitRequest): Promise<Committed> {
    const { ops, reads = [], preconditions = [] } = request;
    const tooLarge = this.context.sizeError(request);
    if (tooLarge !== undefined) return Promise.reject(tooLarge);
    const localSeq = this.context.session.nextLocalSeq();
    void this.local
      .edit(localSeq, this.#byInstance(ops))
      .catch((error) => this.context.report(error));
    return new Promise((resolve, reject) => {
      const rest = { reads, ops, preconditions, sent: false, resolve, reject };
      this.outbox.add({ localSeq, body: { kind: "commit", ...rest } });
    });
  }

  /** Resolves when W covers `seq`, or everything this client has committed so far. */
  async waitForSettled(seq?: Seq): Promise<void> {
    if (seq !== undefined) return this.#waiters.wait(seq);
    await this.outbox.idle();
    return this.#waiters.wait(this.#lastAuthored);
  }

  /** Ends what was not acknowledged, visibly: it is nobody else's to send (field fault IS-07). */
  abandon(reason: string): void {
    for (const { body, localSeq } of this.outbox.drain()) {
      if (body.kind === "commit") {
        void this.local.refused(localSeq as LocalSeq);
        body.reject(new TidemarkError(reason));
      } else
        this.#end(
          body.record.eventId,
          failedOutcome("append-refused", reason, body.record.eventId),
        );
    }
  }

  dispose(): void {
    this.offline();
    this.local.dispose();
  }

  /** Overridden by the space, which knows how to watch: an append waits for a change of the list. */
  watchAcl: () => void = () => undefined;

  /** Likewise: the receipt of an event. */
  readReceipt: (record: EventRecord) => Promise<JsonValue> = () => Promise.resolve({});

  async #integrate({ frame, footing, nth }: Arrival): Promise<void> {
    let ends: readonly End[] = [];
    const integrated = await this.local.integrate(frame, () => {
      this.link.resume.integrated(footing);
      ends = this.#outstanding.takeEnds(frame.entries, nth, (record, seq) =>
        this.#isPassed(record, seq),
      );
      return ends.map(({ record }) => record.eventId);
    });
    if (!integrated) return this.link.resync();
    this.watches.arrived(frame.rows.map((row) => instanceKey(row.id, row.scopeKey)));
    for (const { record, outcome } of ends) record.settle(outcome);
    this.#waiters.moved(this.local.replica.position.watermark);
    if (frame.reset === true || this.link.state.value.state !== "denied") this.#markReady();
  }

  #isPassed(record: EventRecord, seq: Seq): boolean {
    const frontier = this.local.frontier(record.stream);
    const covered = this.local.replica.position.watermark >= seq;
    return covered || (frontier !== undefined && frontier >= seq);
  }

  #end(eventId: EventId, outcome: Outcome): void {
    void this.local.ended(eventId).then(() => this.#outstanding.settle(eventId, outcome));
  }

  #send(item: OutboxItem<Outgoing>): Promise<SendOutcome> {
    const localSeq = item.localSeq as LocalSeq;
    return item.body.kind === "append"
      ? this.#sendAppend(localSeq, item.body)
      : this.#sendCommit(localSeq, item.body);
  }

  async #sendAppend(localSeq: LocalSeq, body: OutgoingAppend): Promise<SendOutcome> {
    const { stream, entry, record } = body;
    try {
      const append = { localSeq, stream, entry };
      const request = { type: "append", space: this.id, append } as const;
      const { seq } = await this.context.session.request<"append">(request, (answer) =>
        record.markAppended({ seq: answer.seq }, this.#arrivals),
      );
      this.#delivered(record, seq);
      return SETTLED;
    } catch (error) {
      return this.#appendRefused(record, asTidemark(error));
    }
  }

  #delivered(record: EventRecord, seq: Seq | undefined): void {
    record.markAppended({ seq }, this.#arrivals);
    if (seq === undefined) return;
    this.#authored(seq);
    void this.local.appended(record.eventId, seq);
  }

  #appendRefused(record: EventRecord, error: TidemarkError): SendOutcome {
    const verdict = readRefusal(error);
    switch (verdict.kind) {
      case "delivered":
        this.#delivered(record, verdict.seq);
        return SETTLED;
      case "final":
        this.#end(
          record.eventId,
          failedOutcome("append-refused", error.message, record.eventId, error),
        );
        return SETTLED;
      case "ambiguous":
        return verdict;
      case "later":
        if (verdict.retry === "session") this.watchAcl();
        return { kind: "later", retry: verdict.retry };
    }
  }

  async #sendCommit(localSeq: LocalSeq, body: OutgoingCommit): Promise<SendOutcome> {
    const { reads, ops, preconditions } = body;
    body.sent = true;
    const { session } = this.context;
    try {
      const commit = {
        localSeq,
        reads,
        ops,
        ...(preconditions.length === 0 ? {} : { preconditions }),
      };
      const { seq } = await session.request<"commit">({ type: "commit", space: this.id, commit });
      this.#authored(seq);
      void this.local.acked(localSeq, seq);
      body.resolve({ seq });
    } catch (error) {
      const refusal = asTidemark(error);
      if (refusal.code === "connection") return { kind: "ambiguous" };
      void this.local.refused(localSeq);
      body.reject(refusal);
    }
    this.#gate.answered(localSeq);
    return SETTLED;
  }

  #authored(seq: Seq): void {
    this.link.accepted();
    if (seq > this.#lastAuthored) this.#lastAuthored = seq;
  }

  #byInstance(ops: readonly DocOperation[]): Map<InstanceKey, ValueOperation[]> {
    const byKey = new Map<InstanceKey, ValueOperation[]>();
    for (const { id, scope, ...op } of ops) {
      const key = instanceKey(id, resolveScopeKey(scope ?? "space", this.context.actor()));
      byKey.set(key, [...(byKey.get(key) ?? []), op]);
    }
    return byKey;
  }
}

function laneOf(body: Outgoing): { readonly name: string; readonly paced: boolean } {
  return body.kind === "append"
    ? { name: `stream ${body.stream}`, paced: true }
    : { name: "commits", paced: false };
}

function asTidemark(error: unknown): TidemarkError {
  return isTidemarkError(error) ? error : new TidemarkError(String(error), {}, { cause: error });
}
