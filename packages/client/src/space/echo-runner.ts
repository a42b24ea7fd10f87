import { marksIn, type EventMarks } from "@tidemark/events";
import { TimeoutError } from "@tidemark/protocol";
import type {
  Actor,
  Clock,
  DocId,
  EventId,
  InstanceKey,
  JsonValue,
  SpaceId,
} from "@tidemark/protocol";
import { actionOf } from "@tidemark/runtime";
import type { Runtime } from "@tidemark/runtime";
import { intentOrigin, type Overlay } from "@tidemark/speculation";
import type { EchoSeal, EchoedSend } from "./echo-seal.js";
import type { EchoView } from "./echo-view.js";

/** What a fired event's echo runs on, each time it runs. */
export interface EchoInput {
  readonly eventId: EventId;
  readonly stream: DocId;
  readonly payload: JsonValue;
  readonly marks: EventMarks;
  readonly actor: Actor;
  /** Wall ms of the fire: what `now()` says in every run of the echo (R29). */
  readonly at: number;
}

/** What a runner is given. */
export interface EchoRunnerOptions {
  readonly space: SpaceId;
  readonly clock: Clock;
  readonly budgetMs: number;
  readonly runtime: () => Runtime;
  readonly overlay: Overlay;
  readonly view: EchoView;
  readonly seal: EchoSeal;
}

/** Moves when a piece with a handler on the stream starts or stops here. */
export function startKey(stream: DocId): InstanceKey {
  return `start ${stream}` as InstanceKey;
}

/** One echo on its way. */
interface Echo {
  readonly root: EchoInput;
  /** Everything its runs have looked at. */
  readonly seen: ReadonlySet<InstanceKey>;
  /** What it depends on beside documents. */
  readonly noted: Set<InstanceKey>;
  readonly queue: EchoInput[];
  ran: number;
  /** Every run so far was sealed, so that its read log says what it rests on. */
  sealed: boolean;
}

/** More events than any echo needs to show: a cascade that feeds itself stops here. */
const MAX_CASCADE = 256;

/**
 * Runs the echoes of fired events, each with the events that it sends in its turn. An echo that
 * throws, is refused or meets something pending shows nothing and says nothing: the served outcome is
 * the answer (seed 000 §4). What it read so far runs it again.
 */
export class EchoRunner {
  readonly #options: EchoRunnerOptions;

  constructor(options: EchoRunnerOptions) {
    this.#options = options;
  }

  /**
   * Runs an echo and its cascade: at once where the handlers are synchronous, else within the budget. A
   * handler that takes longer shows nothing.
   */
  run(input: EchoInput): Promise<void> | undefined {
    const seen = this.#options.view.record();
    const echo: Echo = {
      root: input,
      seen,
      noted: new Set(),
      queue: [input],
      ran: 0,
      sealed: true,
    };
    let waiting: Promise<void> | undefined;
    try {
      waiting = this.#advance(echo);
    } finally {
      if (waiting === undefined) this.#end(echo);
    }
    return waiting === undefined ? undefined : this.#withinBudget(echo, waiting);
  }

  async #withinBudget(echo: Echo, waiting: Promise<void>): Promise<void> {
    const { clock, budgetMs } = this.#options;
    const timer = clock.timer(budgetMs, () => {
      const late = `the echo of ${echo.root.eventId} took longer than ${budgetMs} ms`;
      this.#options.runtime().abandonHandler(new TimeoutError(late, { afterMs: budgetMs }));
    });
    try {
      await waiting;
    } finally {
      timer.cancel();
      this.#end(echo);
    }
  }

  /** Goes on as far as it can without waiting. */
  #advance(echo: Echo): Promise<void> | undefined {
    while (echo.ran < MAX_CASCADE) {
      const next = echo.queue.shift();
      if (next === undefined) return undefined;
      echo.ran += 1;
      const sealed = this.#runOne(next, echo.noted);
      if (sealed instanceof Promise) {
        return sealed.then((was) => {
          this.#ended(echo, next, was);
          return this.#advance(echo);
        });
      }
      this.#ended(echo, next, sealed);
    }
    return undefined;
  }

  #ended(echo: Echo, input: EchoInput, sealed: boolean): void {
    echo.sealed &&= sealed;
    for (const sent of this.#options.seal.takeSends()) echo.queue.push(...this.#child(input, sent));
  }

  #end({ root, seen, noted, sealed }: Echo): void {
    const { overlay, view } = this.#options;
    view.stopRecording();
    overlay.ran(root.eventId, overlay.inputsOf(sealed ? this.#logged(root, noted) : seen));
  }

  /**
   * What sealed runs logged. They have looked at more: an increment looks at what it adds to, and lies
   * over another number just as well.
   */
  #logged(root: EchoInput, noted: ReadonlySet<InstanceKey>): ReadonlySet<InstanceKey> {
    const slot = this.#options.overlay.slot(intentOrigin(root.eventId));
    return slot?.kind === "intent" ? new Set([...slot.reads, ...noted]) : noted;
  }

  /** True where the run was sealed, so that its read log says what it rests on. */
  #runOne(input: EchoInput, noted: Set<InstanceKey>): boolean | Promise<boolean> {
    const { seal } = this.#options;
    const runtime = this.#options.runtime();
    const owner = runtime.streamOwner(input.stream);
    seal.takeSends();
    if (owner === undefined) {
      // Its piece is not here yet, or not any more; the echo runs when a piece with the stream starts.
      this.#options.view.note(startKey(input.stream));
      noted.add(startKey(input.stream));
      return true;
    }
    const { eventId, stream, payload, marks, at, actor } = input;
    const action = actionOf(owner.piece.pattern.id, owner.handler.name, owner.piece.id);
    const context = { kind: "event-handler", action, eventId, stream, actor } as const;
    const outcome = runtime.startHandler({ stream, eventId, payload, marks, at, context });
    if (outcome instanceof Promise) return outcome.then(({ kind }) => kind === "sealed");
    return outcome.kind === "sealed";
  }

  #child(parent: EchoInput, sent: EchoedSend): readonly EchoInput[] {
    const { space, overlay } = this.#options;
    if (sent.stream.space !== undefined && sent.stream.space !== space) return [];
    if (!overlay.openCascade(sent.eventId, parent.eventId)) return [];
    const { eventId, payload } = sent;
    const { actor, at } = parent;
    return [{ eventId, payload, marks: marksIn(sent), stream: sent.stream.id, actor, at }];
  }
}
