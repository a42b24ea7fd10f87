import type { Migration } from "./migrate.js";

/**
 * Which piece a node or stream belongs to. Filled from the piece documents that already stand.
 */
export const pieceIndex: Migration = {
  version: 2,
  sql: `
CREATE TABLE piece_node (node TEXT PRIMARY KEY, piece TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX piece_node_by_piece ON piece_node (piece);
`,
  rebuildsPieceIndex: true,
};
