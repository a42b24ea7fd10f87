import {
  MAIN_BRANCH,
  SPACE_SCOPE_KEY,
  type ActionId,
  type BasisUpdate,
  type DocId,
  type ScopeKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import { sql } from "kysely";
import type {
  BasisInstance,
  BasisTable,
  ForeignBasisRow,
  StoredBasisRead,
} from "../engine-types.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";

const BASIS = {
  clear: statement<[branch: string, action: string, scopeKey: string]>()((db, p) =>
    db
      .deleteFrom("scheduler_basis")
      .where("branch", "=", p(0))
      .where("action", "=", p(1))
      .where("action_scope_key", "=", p(2)),
  ),
  insert: statement<
    [
      branch: string,
      action: string,
      scopeKey: string,
      space: string,
      entity: string,
      entityScopeKey: string,
      seq: number,
    ]
  >()((db, p) =>
    db
      .insertInto("scheduler_basis")
      .values({
        branch: p(0),
        action: p(1),
        action_scope_key: p(2),
        entity_space: p(3),
        entity: p(4),
        entity_scope_key: p(5),
        seq: p(6),
      })
      // One row per input: a document read at two seqs counts from the older one.
      .onConflict((oc) =>
        oc
          .columns([
            "branch",
            "action",
            "action_scope_key",
            "entity_space",
            "entity",
            "entity_scope_key",
          ])
          .doUpdateSet({ seq: sql<number>`min(seq, excluded.seq)` }),
      ),
  ),
  reads: statement<[branch: string, action: string, scopeKey: string]>()((db, p) =>
    db
      .selectFrom("scheduler_basis")
      .select(["entity_space", "entity", "entity_scope_key", "seq"])
      .where("branch", "=", p(0))
      .where("action", "=", p(1))
      .where("action_scope_key", "=", p(2)),
  ),
  known: statement<[branch: string]>()((db, p) =>
    db
      .selectFrom("scheduler_basis")
      .select(["action", "action_scope_key"])
      .distinct()
      .where("branch", "=", p(0)),
  ),
  stale: statement<[branch: string, space: string, branch: string, space: string]>()((db, p) =>
    db
      .selectFrom("scheduler_basis as b")
      .innerJoin("document as d", (join) =>
        join.onRef("d.scope_key", "=", "b.entity_scope_key").onRef("d.id", "=", "b.entity"),
      )
      .innerJoin("head as h", (join) =>
        join.onRef("h.document", "=", "d.no").on("h.branch", "=", sql.lit(0)),
      )
      .select(["b.action", "b.action_scope_key"])
      .distinct()
      .where("b.branch", "=", p(0))
      .where("b.entity_space", "=", p(1))
      .where(sql<boolean>`(h.pos >> 20) > b.seq`)
      .union(
        db
          .selectFrom("scheduler_basis as s")
          .innerJoin("receipt as r", "r.id", "s.entity")
          .select(["s.action as action", "s.action_scope_key as action_scope_key"])
          .where("s.branch", "=", p(2))
          .where("s.entity_space", "=", p(3))
          .where("s.entity_scope_key", "=", sql.lit(SPACE_SCOPE_KEY))
          .where(sql<boolean>`(r.pos >> 20) > s.seq`),
      ),
  ),
  foreign: statement<[branch: string, space: string]>()((db, p) =>
    db
      .selectFrom("scheduler_basis")
      .select(["action", "action_scope_key", "entity_space", "entity", "entity_scope_key", "seq"])
      .where("branch", "=", p(0))
      .where("entity_space", "<>", p(1)),
  ),
} as const;

/**
 * The basis index of seed 001 §3b: ids and seqs only, replaced as a set per (action, instance),
 * inside the transaction of the wave that computed the output.
 */
export class Basis implements BasisTable {
  readonly #q;
  readonly #space: SpaceId;

  constructor(driver: SqlDriver, space: SpaceId) {
    this.#q = prepareLazily(driver, BASIS);
    this.#space = space;
  }

  stale(): readonly BasisInstance[] {
    const space = this.#space;
    return this.#q.stale.all(MAIN_BRANCH, space, MAIN_BRANCH, space).map(instanceOf);
  }

  known(): readonly BasisInstance[] {
    return this.#q.known.all(MAIN_BRANCH).map(instanceOf);
  }

  reads(action: ActionId, scopeKey: ScopeKey): readonly StoredBasisRead[] {
    return this.#q.reads.all(MAIN_BRANCH, action, scopeKey).map(readOf);
  }

  foreign(): readonly ForeignBasisRow[] {
    return this.#q.foreign
      .all(MAIN_BRANCH, this.#space)
      .map((row) => ({ ...instanceOf(row), read: readOf(row) }));
  }

  /**
   * Writes the updates of one commit. Cleared keys go first, so that no set recorded in the same
   * wave falls to a clearance (seed 001 §3b, S4).
   */
  write(updates: readonly BasisUpdate[], commitSeq: Seq): void {
    for (const { action, cleared = [] } of updates) {
      for (const key of cleared) this.#q.clear.run(MAIN_BRANCH, action, key);
    }
    for (const update of updates) this.#replace(update, commitSeq);
  }

  #replace({ action, scopeKey, reads }: BasisUpdate, commitSeq: Seq): void {
    this.#q.clear.run(MAIN_BRANCH, action, scopeKey);
    for (const read of reads) {
      const seq = read.seq === "wave" ? commitSeq : read.seq;
      this.#q.insert.run(MAIN_BRANCH, action, scopeKey, read.space, read.id, read.scopeKey, seq);
    }
  }
}

function instanceOf(row: {
  readonly action: string;
  readonly action_scope_key: string;
}): BasisInstance {
  return { action: row.action as ActionId, scopeKey: row.action_scope_key as ScopeKey };
}

function readOf(row: {
  readonly entity_space: string;
  readonly entity: string;
  readonly entity_scope_key: string;
  readonly seq: number;
}): StoredBasisRead {
  return {
    space: row.entity_space as SpaceId,
    id: row.entity as DocId,
    scopeKey: row.entity_scope_key as ScopeKey,
    seq: row.seq as Seq,
  };
}
