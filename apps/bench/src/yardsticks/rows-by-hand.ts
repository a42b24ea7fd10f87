import Database from "better-sqlite3";

/** One commit of one document. */
export interface CommitRows {
  readonly seq: number;
  readonly id: string;
  /** The document's value as JSON text. */
  readonly data: string;
  /** Of the request's body, where a verdict is kept for a resend. */
  readonly hash?: string;
}

const TABLES = `
CREATE TABLE "commit" (
  seq INTEGER PRIMARY KEY, branch INTEGER NOT NULL, class INTEGER NOT NULL, at INTEGER NOT NULL,
  actor INTEGER, local_seq INTEGER, derived_through INTEGER, watermark INTEGER, detail TEXT);
CREATE TABLE document (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL, scope_key TEXT NOT NULL, UNIQUE (scope_key, id));
CREATE TABLE revision (
  pos INTEGER PRIMARY KEY, branch INTEGER NOT NULL, document INTEGER NOT NULL,
  kind INTEGER NOT NULL, class INTEGER NOT NULL, actor INTEGER, data TEXT);
CREATE UNIQUE INDEX revision_by_document ON revision (document, branch, pos, kind);
CREATE TABLE head (
  branch INTEGER NOT NULL, document INTEGER NOT NULL, pos INTEGER NOT NULL,
  PRIMARY KEY (branch, document)) WITHOUT ROWID;
CREATE TABLE replay (
  open INTEGER NOT NULL, local_seq INTEGER NOT NULL, seq INTEGER NOT NULL, entry_index INTEGER,
  hash TEXT NOT NULL, PRIMARY KEY (open, local_seq)) WITHOUT ROWID;`;

/**
 * The rows of an authored commit that sets one document, inserted with better-sqlite3 directly: the commit, the document's
 * name, its revision, its head,
 * where asked the verdict for a resend. The same columns, keys and pragmas as the engine's tables, and a transaction per commit.
 */
export class RowsByHand {
  readonly #db: Database.Database;
  readonly #write: (rows: CommitRows) => void;
  readonly #one: (rows: CommitRows) => void;
  readonly #many: (commits: readonly CommitRows[]) => void;

  constructor(file: string) {
    this.#db = new Database(file);
    this.#db.pragma("journal_mode = WAL");
    this.#db.pragma("synchronous = NORMAL");
    this.#db.pragma("wal_autocheckpoint = 2000");
    this.#db.exec(TABLES);
    const commit = this.#db.prepare(
      `INSERT INTO "commit" VALUES (?, 0, 0, ?, 1, ?, NULL, NULL, NULL)`,
    );
    const document = this.#db.prepare("INSERT INTO document VALUES (?, ?, 'space')");
    const revision = this.#db.prepare("INSERT INTO revision VALUES (?, 0, ?, 0, 0, NULL, ?)");
    const head = this.#db.prepare("INSERT INTO head VALUES (0, ?, ?)");
    const replay = this.#db.prepare("INSERT INTO replay VALUES (1, ?, ?, NULL, ?)");
    this.#write = ({ seq, id, data, hash }) => {
      commit.run(seq, AT, seq);
      document.run(seq, id);
      revision.run(seq * POS_STRIDE, seq, data);
      head.run(seq, seq * POS_STRIDE);
      if (hash !== undefined) replay.run(seq, seq, hash);
    };
    this.#one = this.#db.transaction(this.#write).immediate;
    this.#many = this.#db.transaction((commits: readonly CommitRows[]) => {
      for (const rows of commits) this.#write(rows);
    }).immediate;
  }

  /** One commit in a transaction of its own. */
  commit(rows: CommitRows): void {
    this.#one(rows);
  }

  /** Several commits in one transaction. */
  commitAll(commits: readonly CommitRows[]): void {
    this.#many(commits);
  }

  close(): void {
    this.#db.close();
  }
}

/** Any instant: the column's width counts, not its value. */
const AT = 1_767_225_600_000;
const POS_STRIDE = 1_048_576;
