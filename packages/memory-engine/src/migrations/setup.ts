import { initial } from "./0001-initial.js";
import { pieceIndex } from "./0002-piece-index.js";

/**
 * The whole current schema, for an empty file. A test holds it equal to what the numbered steps
 * reach; while every step only adds, it is their text in order.
 */
export const SETUP_SQL: string = [initial.sql, pieceIndex.sql].join("\n");
