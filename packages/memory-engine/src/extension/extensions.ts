import { StorageError, type AcceptedCommit, type Seq } from "@tidemark/protocol";
import type { SqlDriver, Stmt } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";
import type { ExtensionDb, StoreExtension } from "./extension.js";

const EXTENSION = {
  version: statement<[name: string]>()((db, p) =>
    db.selectFrom("extension").select("version").where("name", "=", p(0)),
  ),
  setVersion: statement<[name: string, version: number]>()((db, p) =>
    db
      .insertInto("extension")
      .values({ name: p(0), version: p(1) })
      .onConflict((oc) =>
        oc.column("name").doUpdateSet((eb) => ({ version: eb.ref("excluded.version") })),
      ),
  ),
} as const;

const NAME = /^[a-z][a-z0-9_]*$/;

/** The extensions of a store: their migrations at open, their participants at each commit. */
export class Extensions {
  readonly #q;
  readonly #driver: SqlDriver;
  readonly #extensions: readonly StoreExtension[];
  readonly #db: ExtensionDb;

  constructor(driver: SqlDriver, extensions: readonly StoreExtension[]) {
    this.#q = prepareLazily(driver, EXTENSION);
    this.#driver = driver;
    this.#extensions = extensions;
    this.#db = preparingOnce(driver);
    requireDistinctNames(extensions);
  }

  get participates(): boolean {
    return this.#extensions.some((extension) => extension.participate !== undefined);
  }

  /** Forward only; an extension newer than the code is refused before anything is written. */
  migrate(): void {
    const behind = this.#extensions.filter((extension) => this.#pending(extension).length > 0);
    if (behind.length === 0) return;
    this.#driver.transaction(() => {
      for (const extension of behind) {
        const steps = this.#pending(extension);
        for (const step of steps) step.up(this.#db);
        const last = steps.at(-1);
        if (last !== undefined) this.#q.setVersion.run(extension.name, last.version);
      }
    }, "immediate");
  }

  participate(seq: Seq, commit: AcceptedCommit): void {
    for (const extension of this.#extensions) {
      extension.participate?.({ ...this.#db, seq }, commit);
    }
  }

  #pending(extension: StoreExtension): StoreExtension["migrations"] {
    const at = this.#q.version.get(extension.name)?.version ?? 0;
    const known = extension.migrations.length;
    if (at > known) {
      throw new StorageError(
        `extension ${extension.name} of the store has version ${at}, newer than this code's ${known}: run a newer release`,
        { kind: "newer" },
      );
    }
    return extension.migrations.slice(at);
  }
}

function requireDistinctNames(extensions: readonly StoreExtension[]): void {
  const names = new Set<string>();
  for (const { name, migrations } of extensions) {
    if (!NAME.test(name)) throw new TypeError(`"${name}" is no extension name: use ${NAME.source}`);
    if (names.has(name)) throw new TypeError(`two extensions are named ${name}`);
    names.add(name);
    migrations.forEach((step, index) => {
      if (step.version !== index + 1) {
        throw new TypeError(`extension ${name}: step ${index + 1} has version ${step.version}`);
      }
    });
  }
}

function preparingOnce(driver: SqlDriver): ExtensionDb {
  const prepared = new Map<string, Stmt>();
  return {
    exec: (sql) => driver.exec(sql),
    prepare: (sql) => {
      let stmt = prepared.get(sql);
      if (stmt === undefined) {
        stmt = driver.prepare(sql);
        prepared.set(sql, stmt);
      }
      return stmt;
    },
  };
}
