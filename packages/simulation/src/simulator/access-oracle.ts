import {
  ACL_DOC,
  ACL_LEVELS,
  type AcceptedCommit,
  type Acl,
  type HolderId,
  jsonEqual,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import { changesAsked, type Level, type NamedChange } from "./access-changes.js";
import type { SeenEntry } from "./sends.js";

/** Who somebody is by name: `*` stays what it is. */
export type WhoIs = (name: string) => string;

type Complain = (rule: string, what: string) => void;
type Levels = Readonly<Record<string, Level>>;

interface Revision {
  readonly seq: Seq;
  readonly levels: Levels;
}

const RIGHT = "event-consequence:";

/**
 * The access list of one space as the commit table has it, and what follows from it: who may have made each commit, and
 * what must have come of each event that asked for a change (seed 001 §3d).
 */
export class AccessOracle {
  readonly #whoIs: WhoIs;
  readonly #complain: Complain;
  readonly #revisions: Revision[] = [];
  /** The commit that changed the list for an entry. */
  readonly #landed = new Map<SeenEntry, Seq>();
  /** Where the store stood as each holder handed its waves over: what they asked for was decided after it. */
  readonly #closed = new Map<HolderId, Seq[]>();
  refused = 0;

  constructor(whoIs: WhoIs, complain: Complain) {
    this.#whoIs = whoIs;
    this.#complain = complain;
  }

  /** Changes that landed for an event. */
  get changed(): number {
    return this.#landed.size;
  }

  /** A holder hands its wave to the store, which stands at this seq. */
  closing(holder: HolderId, head: Seq): void {
    const heads = this.#closed.get(holder) ?? [];
    this.#closed.set(holder, heads);
    heads.push(head);
  }

  /** Takes in a commit that leaves `list`. `entry`: the one whose event it names as its right. */
  take(commit: AcceptedCommit, list: JsonValue | undefined, entry: SeenEntry | undefined): void {
    const before = this.#revisions.at(-1);
    const changes = commit.changes.some(({ id }) => id === ACL_DOC);
    const after = changes ? levelsIn(list) : undefined;
    if (before !== undefined) this.#judge(commit, before.levels, after, entry);
    if (after !== undefined) this.#revisions.push({ seq: commit.seq, levels: after });
  }

  /** Whether somebody may read at some moment of that stretch of the table, both ends included. */
  mayRead(who: string, from: Seq, to: Seq): boolean {
    return this.#between(from, to).some((levels) => levelOf(levels, who) !== undefined);
  }

  /** What became of an event that asks for access is what the list and the law make of it. */
  judgeEnd(commit: AcceptedCommit, seen: SeenEntry, status: string | undefined): void {
    const { entry, handler, payload } = seen;
    const asked = changesAsked(handler, payload?.n ?? -1);
    const landed = this.#landed.get(seen);
    if (asked.length === 0) {
      if (status === "refused") this.#wrong(seen, commit, "is refused, and asked for nothing");
      return;
    }
    const who = entry.firedAt.user ?? "nobody";
    if (status === undefined) {
      if (landed !== undefined) return;
      const since = this.#handedOver(commit);
      const stands = this.#between(since, (commit.seq - 1) as Seq).some(
        (levels) =>
          levelOf(levels, who) === "OWNER" && jsonEqual(levels, this.#after(levels, asked)),
      );
      if (!stands) this.#wrong(seen, commit, "succeeded, and what it asked for was never done");
      return;
    }
    if (status !== "refused") return;
    this.refused += 1;
    if (landed !== undefined) {
      this.#wrong(seen, commit, `is refused, and changed the list at ${landed}`);
      return;
    }
    const due = this.#between(entry.seq, (commit.seq - 1) as Seq).some(
      (levels) => this.#refusal(levels, who, asked) !== undefined,
    );
    if (!due) this.#wrong(seen, commit, "is refused what its actor had the right to");
  }

  #judge(
    commit: AcceptedCommit,
    before: Levels,
    after: Levels | undefined,
    entry: SeenEntry | undefined,
  ): void {
    const { seq, class: kind, principal = "nobody", changes, appends } = commit;
    if (kind !== "authored") {
      if (after !== undefined)
        this.#complain("access", `a ${kind} commit, ${seq}, writes the list`);
      return;
    }
    if (after !== undefined && !Object.entries(after).some(isOwner)) {
      this.#complain("access", `commit ${seq} leaves nobody who owns the space`);
    }
    const level = levelOf(before, principal);
    if (commit.capabilityRef !== undefined) this.#judgeAsked(commit, before, after, entry);
    else if (after !== undefined && level !== "OWNER") {
      this.#complain("access", `commit ${seq} changes the list for ${principal}, who is ${level}`);
    } else if ((changes.length > 0 || appends.length > 0) && !atLeast(level, "WRITE")) {
      this.#complain("access", `commit ${seq} is by ${principal}, who is ${level}`);
    }
  }

  /** A change that a handler asked for: by its event's actor, for that event, once, and what it asked for. */
  #judgeAsked(
    commit: AcceptedCommit,
    before: Levels,
    after: Levels | undefined,
    seen: SeenEntry | undefined,
  ): void {
    const { seq, principal, session, changes, appends } = commit;
    if (seen === undefined || seen.ended !== undefined) {
      this.#complain(
        "access",
        `commit ${seq} has no event that waits, only ${commit.capabilityRef}`,
      );
      return;
    }
    const { user, session: from } = seen.entry.firedAt;
    const asked = changesAsked(seen.handler, seen.payload?.n ?? -1);
    const wrong = (what: string): void => this.#wrong(seen, commit, what);
    if (changes.length !== 1 || appends.length > 0) wrong("writes more than the list");
    if (principal !== user || (session ?? "server") !== from)
      wrong(`acts as ${principal} ${session}, and was fired by ${user} ${from}`);
    const refusal = this.#refusal(before, user ?? "nobody", asked);
    if (refusal !== undefined) wrong(`lands, though ${refusal}`);
    if (this.#landed.has(seen)) wrong(`changes the list again, after ${this.#landed.get(seen)}`);
    if (!jsonEqual(after ?? {}, this.#after(before, asked)))
      wrong(`leaves ${JSON.stringify(after)} of ${JSON.stringify(before)}`);
    if (jsonEqual(after ?? {}, before)) wrong("changes nothing");
    this.#landed.set(seen, seq);
  }

  /** Why the law refuses a request where the list is this one. */
  #refusal(levels: Levels, who: string, asked: readonly NamedChange[]): string | undefined {
    if (levelOf(levels, who) !== "OWNER") return `${who} does not own the space`;
    const left = Object.entries(this.#after(levels, asked));
    return left.some(isOwner) ? undefined : "nobody is left who owns the space";
  }

  #after(levels: Levels, asked: readonly NamedChange[]): Levels {
    return asked.reduce<Levels>((list, change) => {
      const { [this.#whoIs(change.who)]: _level, ...others } = list;
      if (change.kind === "revoke") return others;
      return { ...others, [this.#whoIs(change.who)]: change.level };
    }, levels);
  }

  /** Where the store stood as the wave that this commit is was handed over. */
  #handedOver({ holder, seq }: AcceptedCommit): Seq {
    const heads = (holder === undefined ? undefined : this.#closed.get(holder)) ?? [];
    return heads.filter((head) => head < seq).at(-1) ?? ((seq - 1) as Seq);
  }

  /** The lists there were in a stretch of the table. */
  #between(from: Seq, to: Seq): readonly Levels[] {
    const standing = this.#revisions.filter(({ seq }) => seq <= from).slice(-1);
    const later = this.#revisions.filter(({ seq }) => seq > from && seq <= to);
    return [...standing, ...later].map(({ levels }) => levels);
  }

  #wrong({ entry, handler }: SeenEntry, { seq }: AcceptedCommit, what: string): void {
    this.#complain("access", `${entry.eventId} (${handler}), commit ${seq}: it ${what}`);
  }
}

/** The event that a commit names as its right. */
export function rightOf({ capabilityRef }: AcceptedCommit): string | undefined {
  return capabilityRef?.startsWith(RIGHT) ? capabilityRef.slice(RIGHT.length) : undefined;
}

/** The levels of a stored list; the simulator's lists grant nothing by stream. */
export function levelsIn(list: JsonValue | undefined): Levels {
  return (list ?? {}) as Acl as Levels;
}

/** What somebody may: the greater of their own level and everybody's. */
export function levelOf(levels: Levels, who: string): Level | undefined {
  const own = [levels[who], levels["*"]].map((level) => ACL_LEVELS.indexOf(level ?? ("" as Level)));
  return ACL_LEVELS[Math.max(...own)];
}

function atLeast(level: Level | undefined, wanted: Level): boolean {
  return level !== undefined && ACL_LEVELS.indexOf(level) >= ACL_LEVELS.indexOf(wanted);
}

function isOwner([who, level]: readonly [string, Level]): boolean {
  return who !== "*" && level === "OWNER";
}
