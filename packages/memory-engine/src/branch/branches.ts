import {
  MAIN_BRANCH,
  ProtocolError,
  type BranchName,
  type Clock,
  type Seq,
} from "@tidemark/protocol";
import type { BranchInfo, BranchTable } from "../engine-types.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";
import { MAIN_BRANCH_NO } from "../sqlite/tables.js";

/** A branch with its parent resolved. */
export interface BranchRow {
  readonly no: number;
  readonly name: BranchName;
  readonly parent: BranchRow | undefined;
  readonly atSeq: Seq;
}

const BRANCH = {
  all: statement<[]>()((db) =>
    db.selectFrom("branch").select(["no", "name", "parent", "at_seq"]).orderBy("no"),
  ),
  insert: statement<[name: string, parent: number, atSeq: number, createdAt: number]>()((db, p) =>
    db.insertInto("branch").values({ name: p(0), parent: p(1), at_seq: p(2), created_at: p(3) }),
  ),
  remove: statement<[no: number]>()((db, p) => db.deleteFrom("branch").where("no", "=", p(0))),
  removeHeads: statement<[no: number]>()((db, p) =>
    db.deleteFrom("head").where("branch", "=", p(0)),
  ),
  removeRevisions: statement<[no: number]>()((db, p) =>
    db.deleteFrom("revision").where("branch", "=", p(0)),
  ),
  removeSnapshots: statement<[no: number]>()((db, p) =>
    db.deleteFrom("snapshot").where("branch", "=", p(0)),
  ),
} as const;

/** Branches: created at a seq, read through to their parent, deleted whole. */
export class Branches {
  readonly #q;
  #byName: ReadonlyMap<string, BranchRow> | undefined;

  constructor(driver: SqlDriver) {
    this.#q = prepareLazily(driver, BRANCH);
  }

  forget(): void {
    this.#byName = undefined;
  }

  /** @throws ProtocolError for a branch that does not exist */
  get(name: BranchName): BranchRow {
    const row = this.#all().get(name);
    if (row === undefined) {
      throw new ProtocolError(`branch ${name} does not exist: create it first`);
    }
    return row;
  }

  list(): readonly BranchRow[] {
    return [...this.#all().values()];
  }

  insert(name: BranchName, parent: BranchRow, atSeq: Seq, createdAt: number): BranchRow {
    if (this.#all().has(name)) {
      throw new ProtocolError(`branch ${name} exists already: choose another name`);
    }
    this.#q.insert.run(name, parent.no, atSeq, createdAt);
    this.forget();
    return this.get(name);
  }

  remove(row: BranchRow): void {
    if (row.no === MAIN_BRANCH_NO) throw new ProtocolError("branch main cannot be deleted");
    const child = this.list().find((other) => other.parent?.no === row.no);
    if (child !== undefined) {
      throw new ProtocolError(
        `branch ${row.name} cannot be deleted: branch ${child.name} reads through it`,
      );
    }
    this.#q.removeHeads.run(row.no);
    this.#q.removeRevisions.run(row.no);
    this.#q.removeSnapshots.run(row.no);
    this.#q.remove.run(row.no);
    this.forget();
  }

  #all(): ReadonlyMap<string, BranchRow> {
    if (this.#byName !== undefined) return this.#byName;
    const byNo = new Map<number, BranchRow>();
    const byName = new Map<string, BranchRow>();
    // A parent is always older, so its number is lower and it comes first.
    for (const row of this.#q.all.all()) {
      const branch: BranchRow = {
        no: row.no,
        name: row.name as BranchName,
        parent: row.parent === null ? undefined : byNo.get(row.parent),
        atSeq: row.at_seq as Seq,
      };
      byNo.set(branch.no, branch);
      byName.set(branch.name, branch);
    }
    this.#byName = byName;
    return byName;
  }
}

/** The public face: each operation in a transaction of its own. */
export function branchTable(parts: {
  readonly branches: Branches;
  readonly clock: Clock;
  readonly head: () => Seq;
  readonly horizon: () => Seq;
  readonly write: <T>(fn: () => T) => T;
}): BranchTable {
  const { branches } = parts;
  return {
    create: (name, options = {}) =>
      parts.write(() => {
        const parent = branches.get(options.from ?? MAIN_BRANCH);
        const at = options.at ?? parts.head();
        if (at > parts.head() || at < parts.horizon()) {
          throw new ProtocolError(
            `branch ${name} cannot start at seq ${at}: the store reads from ${parts.horizon()} to ${parts.head()}`,
          );
        }
        return info(branches.insert(name, parent, at, parts.clock.now()));
      }),
    delete: (name) => parts.write(() => branches.remove(branches.get(name))),
    list: () => branches.list().map(info),
  };
}

function info(row: BranchRow): BranchInfo {
  return { name: row.name, parent: row.parent?.name, at: row.atSeq };
}
