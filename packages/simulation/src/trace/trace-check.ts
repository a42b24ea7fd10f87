import type { AcceptedCommit, SpaceId } from "@tidemark/protocol";
import { departureText } from "./follower.js";
import type { Observation } from "./observation.js";
import { type IsDemanded, SpaceTrace } from "./space-trace.js";

/** Says what the model has no step for. */
export type OnDeparture = (space: SpaceId, text: string) => void;

/**
 * Checks what is observed of a whole world against the model, space by space: each observation is a step that the model
 * allows, or a finding.
 */
export class TraceCheck {
  readonly #spaces = new Map<SpaceId, SpaceTrace>();
  readonly #committed = new Map<SpaceId, string[]>();
  readonly #onDeparture: OnDeparture;
  readonly #isDemanded: IsDemanded;
  /** What processes went through before a space was first heard of. */
  readonly #lives: Observation[] = [];
  /** Where each process passed its last gate before a handler: whose body comes next. */
  readonly #before = new Map<string, SpaceId>();

  constructor(isDemanded: IsDemanded, onDeparture: OnDeparture) {
    this.#isDemanded = isDemanded;
    this.#onDeparture = onDeparture;
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

  /** The commit table is what was observed, row by row: nothing was committed past the observer. */
  compare(space: SpaceId, stored: readonly AcceptedCommit[]): void {
    const seen = this.#committed.get(space) ?? [];
    for (const commit of stored) {
      if (seen[commit.seq] === rowOf(commit)) continue;
      this.#onDeparture(
        space,
        `commit ${commit.seq} stands in the table, and nobody was seen to make it`,
      );
      return;
    }
  }

  #of(observation: Exclude<Observation, { readonly kind: "process" | "body" }>): void {
    const { space } = observation;
    if (observation.kind === "gate" && observation.gate === "handler:before-run") {
      this.#before.set(observation.process, space);
    }
    if (observation.kind === "commit") {
      const rows = this.#committed.get(space) ?? [];
      rows[observation.commit.seq] = rowOf(observation.commit);
      this.#committed.set(space, rows);
    }
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
    const trace = new SpaceTrace(space, this.#isDemanded, (departure) =>
      this.#onDeparture(space, departureText(departure)),
    );
    this.#spaces.set(space, trace);
    for (const life of this.#lives) trace.read(life);
    return trace;
  }
}

/** What must be the same of a commit as it was made and as it stands. */
function rowOf({ seq, class: kind, holder, appends, watermark }: AcceptedCommit): string {
  return `${seq} ${kind} ${holder ?? ""} ${appends.length} ${watermark ?? ""}`;
}
