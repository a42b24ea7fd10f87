import type { Migration } from "./migrate.js";

/**
 * protocol.md §8, seed 001 §3b (scheduler_basis as authored there), R21 (entries as rows).
 * A step is never edited once released.
 */
export const initial: Migration = {
  version: 1,
  sql: `
CREATE TABLE store_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL, scope_key TEXT NOT NULL, UNIQUE (scope_key, id));
CREATE TABLE actor (
  no INTEGER PRIMARY KEY, principal TEXT NOT NULL, session TEXT NOT NULL, holder TEXT NOT NULL,
  UNIQUE (principal, session, holder));
CREATE TABLE "commit" (
  seq INTEGER PRIMARY KEY, branch INTEGER NOT NULL, class INTEGER NOT NULL, at INTEGER NOT NULL,
  actor INTEGER, local_seq INTEGER, derived_through INTEGER, watermark INTEGER, detail TEXT);
CREATE TABLE revision (
  pos INTEGER PRIMARY KEY, branch INTEGER NOT NULL, document INTEGER NOT NULL,
  kind INTEGER NOT NULL, class INTEGER NOT NULL, actor INTEGER, data TEXT);
CREATE UNIQUE INDEX revision_by_document ON revision (document, branch, pos, kind);
CREATE TABLE head (
  branch INTEGER NOT NULL, document INTEGER NOT NULL, pos INTEGER NOT NULL,
  PRIMARY KEY (branch, document)) WITHOUT ROWID;
CREATE TABLE snapshot (
  no INTEGER PRIMARY KEY, branch INTEGER NOT NULL, document INTEGER NOT NULL,
  pos INTEGER NOT NULL, data TEXT NOT NULL, UNIQUE (document, branch, pos));
CREATE TABLE branch (
  no INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, parent INTEGER, at_seq INTEGER NOT NULL,
  created_at INTEGER NOT NULL);
CREATE TABLE stream (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, frontier INTEGER NOT NULL);
CREATE TABLE stream_entry (
  pos INTEGER PRIMARY KEY, stream INTEGER NOT NULL, event_id TEXT NOT NULL, payload TEXT,
  actor INTEGER NOT NULL, client_seq INTEGER, appended_at INTEGER NOT NULL,
  consequenced INTEGER NOT NULL, status TEXT, outcome TEXT, extra TEXT);
CREATE INDEX stream_entry_by_stream ON stream_entry (stream, pos);
CREATE INDEX stream_entry_by_event ON stream_entry (event_id, stream);
CREATE INDEX stream_entry_pending ON stream_entry (pos) WHERE consequenced = 0;
CREATE TABLE session_open (
  no INTEGER PRIMARY KEY, principal TEXT NOT NULL, session TEXT NOT NULL, nonce TEXT NOT NULL,
  UNIQUE (session, nonce, principal));
CREATE TABLE replay (
  open INTEGER NOT NULL, local_seq INTEGER NOT NULL, seq INTEGER NOT NULL, entry_index INTEGER,
  hash TEXT NOT NULL, PRIMARY KEY (open, local_seq)) WITHOUT ROWID;
CREATE TABLE execution_lease (
  space TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE scheduler_basis (
  branch TEXT NOT NULL, action TEXT NOT NULL, action_scope_key TEXT NOT NULL,
  entity_space TEXT NOT NULL, entity TEXT NOT NULL, entity_scope_key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (branch, action, action_scope_key, entity_space, entity, entity_scope_key)
) WITHOUT ROWID;
CREATE TABLE extension (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO branch (no, name, parent, at_seq, created_at) VALUES (0, 'main', NULL, 0, 0);
`,
};
