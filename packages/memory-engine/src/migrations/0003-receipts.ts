import type { Migration } from "./migrate.js";

/**
 * Receipts as one row each (docs/decisions/0030). Those that older code wrote stay where they are: a receipt
 * is looked for in both places.
 */
export const receipts: Migration = {
  version: 3,
  sql: `
CREATE TABLE receipt (
  pos INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, actor INTEGER, data TEXT NOT NULL);
`,
};
