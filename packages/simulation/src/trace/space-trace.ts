import { deriveEventKey } from "@tidemark/events";
import type { AcceptedCommit, SpaceId, StreamEntry } from "@tidemark/protocol";
import { consumedBefore, holds, isPending, type Pos } from "../model/state.js";
import { ENTRIES_PER_COMMIT } from "../model/store-steps.js";
import { inFlight } from "../model/drain-steps.js";
import { isAnswer } from "./answers.js";
import { type Departure, Follower } from "./follower.js";
import type { Observation, PlaceSeen, Seen } from "./observation.js";
import { Receipts } from "./receipts.js";
import { readWave } from "./wave-reading.js";
import { ForeignWrites } from "./writes.js";

/** Whether somebody demands everything that a space derives, now and without a break since it was at rest. */
export type IsDemanded = (space: SpaceId) => boolean;

/** Whether a stream's handler asks for changes of the access list. */
export type AsksAccess = (space: SpaceId, stream: string) => boolean;

/** What a {@link SpaceTrace} is made of. */
export interface SpaceTraceOptions {
  readonly isDemanded: IsDemanded;
  readonly asksAccess: AsksAccess;
  readonly onDeparture: (departure: Departure) => void;
}

/** Where a process is on the way to its next tenure or handler, beyond what the model knows. */
interface Way {
  /** The gate behind the lease was reached; the tenure begins with whatever it does next. */
  activating: boolean;
  /** The entry whose dispatch began. */
  coming: Pos | undefined;
  /** The run that ended has passed the last gate before its seal. */
  sealing: boolean;
  /** An answer from outside is on its way into the store: a commit that is no wave. */
  answering: boolean;
  /**
   * A transaction wrote nothing: that of a wave of which nothing is left, as the gate behind it tells, or one that only
   * looks which runs land before their changes of the access list do (seed 001 §3d).
   */
  nothing: boolean;
  /** Entries that are queued still where a wave wrote nothing, or are drained again. */
  kept: readonly Pos[];
  /** Bodies that have begun and not ended, the first first; one may outlive its tenure. */
  readonly bodies: { readonly key: string; readonly tenure: number | undefined }[];
}

/** Reads the trace of one space into steps of the model. */
export class SpaceTrace {
  readonly follower: Follower;
  readonly receipts = new Receipts();
  readonly writes = new ForeignWrites();
  readonly #space: SpaceId;
  readonly #isDemanded: IsDemanded;
  readonly #asksAccess: AsksAccess;
  /** Entries by the key of their event (seed 003): what a handler's body is known by. */
  readonly #byKey = new Map<string, Pos[]>();
  readonly #ways = new Map<string, Way>();

  constructor(space: SpaceId, { isDemanded, asksAccess, onDeparture }: SpaceTraceOptions) {
    this.#space = space;
    this.#isDemanded = isDemanded;
    this.#asksAccess = asksAccess;
    this.follower = new Follower(onDeparture);
  }

  read(observation: Observation): void {
    if (this.follower.departed) return;
    this.follower.because(observation);
    switch (observation.kind) {
      case "process":
        return this.#process(observation);
      case "gate":
        return this.#gate(observation);
      case "body":
        return this.#body(observation);
      case "lease":
        return this.#lease(observation);
      case "theft":
        return void this.follower.act({ do: "steal", ...pick(observation) });
      case "commit":
        return this.#commit(observation);
      case "no commit":
        return this.#noCommit(observation);
      case "duplicate":
        return this.#duplicate(observation);
      case "compaction":
        return this.#compaction(observation);
    }
  }

  /** Whether the body of an event's run is this space's. */
  knows(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Whether a stream's handler asks for changes of the access list. */
  asks(stream: string): boolean {
    return this.#asksAccess(this.#space, stream);
  }

  keyOf({ stream, eventId, firedAt }: StreamEntry): string {
    const link = { id: stream, space: this.#space };
    return deriveEventKey({ actor: firedAt.user ?? null, event: eventId, stream: link });
  }

  #way(process: string): Way {
    const known = this.#ways.get(process);
    if (known !== undefined) return known;
    const way: Way = {
      activating: false,
      coming: undefined,
      sealing: false,
      answering: false,
      nothing: false,
      kept: [],
      bodies: [],
    };
    this.#ways.set(process, way);
    return way;
  }

  // — processes and leases —

  #process({ process, what, holder }: Seen<"process">): void {
    const { follower } = this;
    switch (what) {
      case "starts":
        this.#ways.delete(process);
        return void follower.act({ do: "start", process, holder });
      case "dies":
      case "stops":
        return void follower.act({ do: "crash", process });
      case "stands still":
        return void follower.act({ do: "suspend", process });
      case "goes on":
        return void follower.act({ do: "resume", process });
    }
  }

  #lease({ process, call, ttl, ok }: Seen<"lease">): void {
    const { follower } = this;
    this.#goesOn(process);
    switch (call) {
      case "acquire":
        return void follower.act({ do: "acquire", process, ttl, won: ok });
      case "renew":
        return void follower.act({ do: "renew", process, ttl, kept: ok });
      case "release":
        return void follower.act({ do: "release", process });
    }
  }

  /** What is left behind by what a process now does: it has told of its commit, its tenure has begun. */
  #goesOn(process: string): void {
    const { follower } = this;
    const way = this.#way(process);
    if (way.activating) {
      way.activating = false;
      if (follower.process(process)?.believes) follower.act({ do: "activate", process });
    }
    if (follower.tenure(process)?.untold) follower.act({ do: "tell", process });
  }

  // — gates and handlers —

  #gate(seen: Seen<"gate">): void {
    const { process, gate, met } = seen;
    if (gate === "append:before-admit" || gate === "push:before" || gate === "dispose:before")
      return;
    const way = this.#way(process);
    if (ANSWERS_WAY.has(gate)) {
      way.answering = gate === "effect:before-completion" && (met === "pass" || met === "left");
    }
    if (gate === "activate:after-lease") {
      way.activating = met !== "fail";
      return;
    }
    if (gate === "wave:after-commit" && way.nothing) this.#nothingIsLeft(process);
    if (gate === "seal:before") way.sealing = met === "pass" || met === "left";
    if (met === "left") return;
    if (gate !== "wave:after-commit") this.#goesOn(process);
    if (this.follower.tenure(process) === undefined) return;
    if (gate === "feed:before-apply") this.#view(process);
    if (gate === "drain:before-queue") this.#drain(seen);
    if (gate === "preflight:before") {
      // One delivery at a time: the one before has been sealed.
      this.#sealSound(process);
      way.coming = this.#queued(process, seen.event);
    }
    if (gate === "wave:before-commit") this.#close(process);
    if (met === "fail") this.#failed(process, gate);
  }

  #view(process: string): void {
    const tenure = this.follower.tenure(process);
    if (tenure !== undefined) this.follower.act({ do: "view", process, seen: tenure.seen });
  }

  #queued(process: string, event: string | undefined): Pos | undefined {
    const { state } = this.follower;
    const queue = this.follower.tenure(process)?.queue ?? [];
    return queue.find((pos) =>
      state.entries.some((entry) => entry.pos === pos && entry.event === event),
    );
  }

  #drain({ process, event }: Seen<"gate">): void {
    const { follower } = this;
    const named = follower.state.entries.filter(
      (entry) => isPending(entry) && entry.event === event,
    );
    const flying = inFlight(follower.tenure(process) ?? NOTHING);
    const way = this.#way(process);
    const kept = named.find(({ pos }) => way.kept.includes(pos));
    way.kept = way.kept.filter((pos) => pos !== kept?.pos);
    if (kept !== undefined) return;
    const entry = named.find(({ pos }) => !flying.has(pos)) ?? named[0];
    if (entry === undefined) {
      follower.depart({ do: "drain", process, pos: 0 }, `${event} is no pending entry`);
      return;
    }
    if (flying.has(entry.pos)) this.#takesBack(process, entry.pos);
    if (entry.seq > (follower.tenure(process)?.applied ?? 0)) this.#view(process);
    this.passOver(process, entry.pos);
    follower.act({ do: "drain", process, pos: entry.pos });
  }

  /** Duplicates of consumed entries are passed over on the way, unseen (R1). */
  passOver(process: string, before: Pos, closed?: true): void {
    const { follower } = this;
    const flying = inFlight(follower.tenure(process) ?? NOTHING);
    const { applied = 0 } = follower.tenure(process) ?? {};
    for (const entry of follower.state.entries) {
      if (entry.pos >= before || entry.seq > applied || !isPending(entry)) continue;
      if (flying.has(entry.pos) || !consumedBefore(follower.state, entry)) continue;
      follower.act({ do: "passOver", process, pos: entry.pos, ...(closed ? { closed } : {}) });
    }
  }

  /**
   * An entry with a copy under way is taken up again: that copy's way must have ended without a seal, and with it what
   * was queued behind.
   */
  #takesBack(process: string, pos: Pos): void {
    const { follower } = this;
    const tenure = follower.tenure(process);
    const { running } = tenure ?? {};
    const way = this.#way(process);
    // What had ended may have rested on what a commit took back meanwhile; else its seal stands.
    const ended = running?.ended !== undefined && tenure?.commits === running.since;
    // It waited in the queue: what ended before it went back, and took the queue along.
    const swept = running?.ended !== undefined && tenure?.queue.includes(pos) === true;
    const gone = ((running?.pos === pos || swept) && !ended) || way.coming === pos;
    way.coming = undefined;
    if (gone) follower.act({ do: "giveBack", process });
  }

  #failed(process: string, gate: Seen<"gate">["gate"]): void {
    const { follower } = this;
    const tenure = follower.tenure(process);
    if (
      gate === "wave:before-commit" ||
      gate === "wave:after-commit" ||
      gate === "access:after-commit" ||
      gate === "feed:before-apply"
    ) {
      follower.act({ do: "abort", process });
      return;
    }
    const delivering = tenure?.running !== undefined || this.#way(process).coming !== undefined;
    const onTheWay =
      gate === "preflight:before" || gate === "seal:before" || gate.startsWith("handler:");
    if (onTheWay && delivering) follower.act({ do: "giveBack", process });
  }

  #body({ process, key, how }: Seen<"body">): void {
    const { follower } = this;
    const tenure = follower.tenure(process);
    if (how !== undefined) {
      // What a tenure left running ends for nobody.
      if (!this.#isLeftBehind(process, key)) follower.act({ do: "end", process, how });
      return;
    }
    if (tenure === undefined) {
      follower.depart({ do: "begin", process, pos: 0 }, `${process} has no tenure that may commit`);
      return;
    }
    this.#way(process).bodies.push({ key, tenure: tenure.id });
    this.#goesOn(process);
    this.sealRun(process);
    const queue = follower.tenure(process)?.queue ?? [];
    const pos = this.#byKey.get(key)?.find((each) => queue.includes(each));
    const known = this.#byKey.get(key)?.at(-1);
    this.#way(process).coming = undefined;
    this.#way(process).sealing = false;
    if (pos !== undefined) follower.act({ do: "begin", process, pos });
    else if (known !== undefined) follower.act({ do: "begin", process, pos: known });
    else follower.act({ do: "beginCopy", process, event: key });
  }

  /** Whether the body that ends belongs to a tenure that is no more: of two of one event the earlier ends first. */
  #isLeftBehind(process: string, key: string): boolean {
    const { bodies } = this.#way(process);
    const at = bodies.findIndex((body) => body.key === key);
    const [ended] = at < 0 ? [] : bodies.splice(at, 1);
    return ended !== undefined && ended.tenure !== this.follower.tenure(process)?.id;
  }

  /** A run that has ended is sealed by the time the next one begins: one body at a time. */
  sealRun(process: string, closed?: true): void {
    const tenure = this.follower.tenure(process);
    const running = tenure?.running;
    if (running?.ended === undefined) return;
    this.#way(process).sealing = false;
    // A copy belongs to the wave that sends it: with that closed, it seals into none (seed 000 §4).
    if (running.pos === 0 && running.since !== tenure?.commits) {
      this.follower.act({ do: "giveBack", process });
      return;
    }
    this.follower.act({ do: "seal", process, sends: [], ...(closed ? { closed } : {}) });
  }

  // — commits —

  #close(process: string): void {
    this.#way(process).nothing = false;
    this.#view(process);
    if (this.follower.tenure(process)?.closing === undefined) this.#sealSound(process);
    this.follower.act({ do: "close", process });
  }

  /** Seals the run that has passed its last gate. One that may rest on what a commit took back is told by what follows. */
  #sealSound(process: string): void {
    const tenure = this.follower.tenure(process);
    const sound = tenure?.running?.since === tenure?.commits;
    if (this.#way(process).sealing && sound) this.sealRun(process);
  }

  /** What an idle scheduler can have proved by the time the wave closed, taken as far as it may go. */
  prove(process: string): void {
    const { follower } = this;
    const { state } = follower;
    const closing = follower.tenure(process)?.closing;
    if (closing === undefined) return;
    const done = new Set(closing.contributions.map(({ pos }) => pos));
    const open = state.entries.find((entry) => isPending(entry) && !done.has(entry.pos));
    const derived = new Set(state.tail.map(({ seq }) => seq));
    let input = closing.applied;
    while (input > state.watermark && derived.has(input)) input -= 1;
    const through = Math.min(input, (open?.seq ?? Number.POSITIVE_INFINITY) - 1);
    if (through <= Math.max(closing.proven, state.watermark)) return;
    follower.act({ do: "settle", process, through, closed: true });
  }

  #commit({ process, commit, behind }: Seen<"commit">): void {
    const { follower } = this;
    if (commit.seq !== follower.state.head + 1) {
      follower.depart(
        { do: "write", races: [] },
        `seq ${commit.seq} follows ${follower.state.head}`,
      );
      return;
    }
    if (isAnswer(commit)) this.#answer(process, commit);
    else if (commit.class === "derived") {
      const owed = this.#isDemanded(this.#space) ? behind : [];
      this.#way(process).nothing = false;
      readWave(
        this,
        process,
        commit,
        owed.map(({ seq }) => seq),
      );
    } else if (commit.capabilityRef !== undefined) this.#access(process, commit);
    else if (commit.appends.length > 0) this.#append(commit);
    else follower.act({ do: "write", races: ["*"] });
    this.receipts.take(commit);
    this.writes.take(commit);
    for (const entry of commit.appends) this.#remember(entry);
  }

  /** An answer to a request is no wave: it lands beside one, under the same lease. */
  #answer(process: string, { seq }: AcceptedCommit): void {
    const { follower } = this;
    const action = { do: "write", races: ["*"], answer: true } as const;
    if (holds(follower.state, process)) follower.act(action);
    else follower.depart(action, `${process} stored an answer at ${seq} without a live row`);
  }

  /** What a run of the wave asks of the access list lands ahead of it, under the wave's lease (seed 001 §3d). */
  #access(process: string, { capabilityRef }: AcceptedCommit): void {
    const event = capabilityRef?.slice(capabilityRef.indexOf(":") + 1) ?? "";
    const { running, closing } = this.follower.tenure(process) ?? {};
    const made = closing?.contributions.some((each) => each.event === event);
    if (!made && running?.ended !== undefined && running.event === event) {
      this.sealRun(process, true);
    }
    this.follower.act({ do: "access", process, event });
  }

  #append({ appends }: AcceptedCommit): void {
    for (const { stream, eventId } of appends) {
      const asks = this.asks(stream) ? ({ asks: true } as const) : {};
      this.follower.act({ do: "append", stream, event: eventId, admitted: true, ...asks });
    }
  }

  #remember(entry: StreamEntry): void {
    const key = this.keyOf(entry);
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), posOf(entry)]);
  }

  #noCommit({ process, error }: Seen<"no commit">): void {
    const { follower } = this;
    const tenure = follower.tenure(process);
    // A precondition that fails costs its contribution; the rest is decided again.
    if (tenure === undefined || error === "precondition") return;
    const { answering } = this.#way(process);
    if (error === "lease") {
      this.#way(process).answering = false;
      follower.act({ do: "refuse", process, ...(answering ? { answer: true } : {}) });
    } else if (tenure.closing !== undefined && (error === "unauthorized" || error === "protocol")) {
      // A change of access that the list's present state turns down: its run falls with the wave.
      return;
    } else if (error !== undefined) follower.act({ do: "abort", process });
    else if (tenure.closing !== undefined) this.#way(process).nothing = true;
  }

  #nothingIsLeft(process: string): void {
    const { follower } = this;
    const tenure = follower.tenure(process);
    this.#way(process).nothing = false;
    if (tenure?.closing === undefined) return;
    const falls = tenure.closing.contributions.filter(({ pos }) => pos > 0).map(({ pos }) => pos);
    follower.act({ do: "commit", process, falls, writes: false, sent: [] });
    if (tenure.closing.contributions.length === 0) this.#keep(process, tenure.queue);
  }

  /** A wave of a request that is selected already has nothing to write, and takes nothing back; or it does, and says so. */
  #keep(process: string, queue: readonly Pos[]): void {
    for (const pos of queue) this.follower.act({ do: "drain", process, pos });
    this.#way(process).kept = queue;
  }

  #duplicate({ stream, event }: Seen<"duplicate">): void {
    this.follower.act({ do: "append", stream, event, admitted: false });
  }

  #compaction({ left }: Seen<"compaction">): void {
    const standing = new Set(left.map(posOf));
    const gone = this.follower.state.entries
      .map(({ pos }) => pos)
      .filter((pos) => !standing.has(pos));
    if (gone.length > 0) this.follower.act({ do: "compact", gone });
  }
}

/** Where an answer sets out, and what tells that it has come in: what a handler passes meanwhile says nothing of it. */
const ANSWERS_WAY: ReadonlySet<string> = new Set([
  "effect:before-completion",
  "effect:after-completion",
  "wave:before-commit",
  "activate:after-lease",
]);

const NOTHING = { queue: [], wave: [] } as unknown as Parameters<typeof inFlight>[0];

/** An entry's place as one number, in the order of arrival. */
export function posOf({ seq, index }: Pick<PlaceSeen, "seq" | "index">): Pos {
  return seq * ENTRIES_PER_COMMIT + index;
}

function pick({ holder, ttl }: Seen<"theft">): { readonly holder: string; readonly ttl: number } {
  return { holder, ttl };
}
