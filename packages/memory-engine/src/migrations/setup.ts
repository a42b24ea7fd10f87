import { initial } from "./0001-initial.js";
import { pieceIndex } from "./0002-piece-index.js";
import { receipts } from "./0003-receipts.js";

/**
 * The whole current schema, for an empty file. A test holds it equal to what the numbered steps
 * reach; while every step only adds, it is their text in order.
 */
export const SETUP_SQL: string = [initial.sql, pieceIndex.sql, receipts.sql].join("\n");
