import type { AcceptedCommit, Seq } from "@tidemark/protocol";
import type { Stmt } from "../sqlite/driver.js";

/** One forward step of an extension's own tables. */
export interface ExtensionMigration {
  /** 1, 2, 3 … without a gap. */
  readonly version: number;
  /** Runs inside the migration's transaction. */
  readonly up: (db: ExtensionDb) => void;
}

/** What an extension may do with the store: its own statements, prepared once per text. */
export interface ExtensionDb {
  prepare(sql: string): Stmt;
  exec(sql: string): void;
}

/** The commit's transaction, as a participant sees it. */
export interface ExtensionTx extends ExtensionDb {
  readonly seq: Seq;
}

/**
 * A part of the store that another package owns (architecture.md): its tables, and a synchronous
 * participant that writes rows in the transaction of each commit. A participant that throws
 * refuses the commit, and nothing of it is stored.
 */
export interface StoreExtension {
  /** Durable: `[a-z][a-z0-9_]*`. Two extensions of one name are refused. */
  readonly name: string;
  readonly migrations: readonly ExtensionMigration[];
  readonly participate?: (tx: ExtensionTx, commit: AcceptedCommit) => void;
}
