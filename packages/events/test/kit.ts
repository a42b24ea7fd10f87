import type { DocId, EventId, Link, Principal, Seq, SessionId, SpaceId } from "@tidemark/protocol";

// Real did:key values, since entries are checked; the key bytes are arbitrary.
export const ANA = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK" as Principal;
export const BEN = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH" as Principal;
export const A1 = "a1" as SessionId;
export const STREAM = "stream:votes" as DocId;
export const OTHER_STREAM = "stream:other" as DocId;
export const SPACE = "did:key:z6MknGc3ocHs3zdPiJbnaaqDi58NGb4pk1Sp9WxWufuXSdxf" as SpaceId;

export const ev = (id: string): EventId => id as EventId;
export const at = (seq: number): Seq => seq as Seq;
export const streamLink = (id: DocId = STREAM): Link => ({ id, space: SPACE });

export { storedEntry as entry } from "../src/testing/index.js";
