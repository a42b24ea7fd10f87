import type { AcceptedCommit, SpaceId } from "@tidemark/protocol";
import { departureText } from "./follower.js";
import type { Observation } from "./observation.js";
import { type AsksAccess, type IsDemanded, SpaceTrace } from "./space-trace.js";

/** Says what the model has no step for. */
export type OnDeparture = (space: SpaceId, text: string) => void;

/**
 * Checks what is observed of a whole world against the model, space by space: each observation is a step that the model
 * allows, or a finding.
 */
export class TraceCheck {
  readonly #spaces = new Map<SpaceId, SpaceTrace>();
  /** Commits as they were made, since the table was compared last. */
  readonly #committed = new Map<SpaceId, Map<number, AcceptedCommit>>();
  readonly #compacted = new Set<SpaceId>();
  readonly #onDeparture: OnDeparture;
  readonly #isDemanded: IsDemanded;
  readonly #asksAccess: AsksAccess;
  /** What processes went through before a space was first heard of. */
  readonly #lives: Observation[] = [];
  /** Where each process passed its last gate before a handler: whose body comes next. */
  readonly #before = new Map<string, SpaceId>();

  constructor(
    isDemanded: IsDemanded,
    onDeparture: OnDeparture,
    asksAccess: AsksAccess = () => false,
  ) {
    this.#isDemanded = isDemanded;
    this.#onDeparture = onDeparture;
    this.#asksAccess = asksAccess;
  }

  readonly see = (observation: Observation): void => {
    switch (observation.kind) {
      case "process":
        this.#lives.push(observation);
        for (const trace of this.#spaces.values()) trace.read(observation);
        return;
      case "body":
        return this.#body(observation);
      default:
        return this.#of(observation);
    }
  };

  /** How often each transition of the model was taken. */
  get taken(): ReadonlyMap<string, number> {
    const sum = new Map<string, number>();
    for (const { follower } of this.#spaces.values()) {
      for (const [name, count] of follower.taken) sum.set(name, (sum.get(name) ?? 0) + count);
    }
    return sum;
  }

  /** Every situation of the model that was met. */
  get situations(): ReadonlySet<string> {
    return new Set([...this.#spaces.values()].flatMap(({ follower }) => [...follower.situations]));
  }

  /**
   * The commit table is what was observed, row by row: nothing was committed past the observer. Returns the commits as they
   * were made: of what they appended a compaction may have taken some by now.
   */
  compare(space: SpaceId, stored: readonly AcceptedCommit[]): readonly AcceptedCommit[] {
    const seen = this.#committed.get(space) ?? new Map<number, AcceptedCommit>();
    const lessIsFine = this.#compacted.has(space);
    return stored.map((commit) => {
      const observed = seen.get(commit.seq);
      seen.delete(commit.seq);
      if (observed !== undefined && isThatOf(observed, commit, lessIsFine)) return observed;
      this.#onDeparture(
        space,
        `commit ${commit.seq} stands in the table, and nobody was seen to make it`,
      );
      return commit;
    });
  }

  /** Whether entries of the space were compacted. */
  hasCompacted(space: SpaceId): boolean {
    return this.#compacted.has(space);
  }

  #of(observation: Exclude<Observation, { readonly kind: "process" | "body" }>): void {
    const { space } = observation;
    if (observation.kind === "gate" && observation.gate === "handler:before-run") {
      this.#before.set(observation.process, space);
    }
    if (observation.kind === "commit") {
      const rows = this.#committed.get(space) ?? new Map<number, AcceptedCommit>();
      this.#committed.set(space, rows.set(observation.commit.seq, observation.commit));
    }
    if (observation.kind === "compaction") this.#compacted.add(space);
    this.#trace(space).read(observation);
  }

  #body(observation: Extract<Observation, { readonly kind: "body" }>): void {
    const owner =
      [...this.#spaces.values()].find((trace) => trace.knows(observation.key)) ??
      this.#spaces.get(this.#before.get(observation.process) ?? ("" as SpaceId));
    owner?.read(observation);
  }

  #trace(space: SpaceId): SpaceTrace {
    const known = this.#spaces.get(space);
    if (known !== undefined) return known;
    const trace = new SpaceTrace(space, {
      isDemanded: this.#isDemanded,
      asksAccess: this.#asksAccess,
      onDeparture: (departure) => this.#onDeparture(space, departureText(departure)),
    });
    this.#spaces.set(space, trace);
    for (const life of this.#lives) trace.read(life);
    return trace;
  }
}

/** Whether the row is the commit; where entries were compacted since, it may name fewer. */
function isThatOf(made: AcceptedCommit, row: AcceptedCommit, lessIsFine: boolean): boolean {
  const less = made.appends.length - row.appends.length;
  return (
    made.class === row.class &&
    made.holder === row.holder &&
    made.watermark === row.watermark &&
    (lessIsFine ? less >= 0 : less === 0)
  );
}
