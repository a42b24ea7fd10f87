import { describe, expect, test } from "vitest";
import {
  ACL_DOC,
  ATTENTION_DOC,
  docId,
  docKind,
  EFFECTS_DOC,
  eventId,
  isDocId,
  isReserved,
  nodeIdFor,
  pieceIdFor,
  receiptIdFor,
  RESERVED,
  streamIdFor,
  WATERMARK_DOC,
} from "../../src/index.js";

const piece = pieceIdFor({ event: "e1", index: 0 });

describe("document ids", () => {
  test("[PR-I7] the same cause gives the same piece, whatever its key order", () => {
    expect(pieceIdFor({ index: 0, event: "e1" })).toBe(piece);
    expect(pieceIdFor({ event: "e2", index: 0 })).not.toBe(piece);
    expect(pieceIdFor(null)).not.toBe(pieceIdFor("null"));
    expect(piece).toMatch(/^piece:[a-z2-7]{52}$/);
  });

  test("[PR-I7] nodes, streams and receipts of one name never share an id", () => {
    const event = eventId("inc");
    const ids = [
      nodeIdFor(piece, "inc"),
      streamIdFor(piece, "inc"),
      receiptIdFor(event, piece),
      nodeIdFor(piece, "dec"),
      nodeIdFor(pieceIdFor("other"), "inc"),
    ];
    expect(new Set(ids.map((id) => id.slice(id.indexOf(":")))).size).toBe(ids.length);
    expect(ids.every(isDocId)).toBe(true);
  });

  test("[PR-I7] receipts stand in the order of their events' times, and other event ids keep the hash", () => {
    const ids = [
      "01J00000000000000000000000",
      "01J0000001ZZZZZZZZZZZZZZZZ",
      "01J0000002000000000000000A",
    ];
    const receipts = ids.map((id) => receiptIdFor(eventId(id), piece));
    expect([...receipts].sort()).toEqual(receipts);
    expect(receipts[0]).toMatch(/^receipt:01j0000000\.[a-z2-7]{52}$/);
    // One millisecond, two events: the hash still tells them apart.
    expect(receiptIdFor(eventId("01J00000000000000000000001"), piece)).not.toBe(receipts[0]);
    for (const other of ["a", "01j00000000000000000000000", "01J0000000000000000000000U"]) {
      expect(receiptIdFor(eventId(other), piece)).toMatch(/^receipt:[a-z2-7]{52}$/);
    }
    expect(receipts.every((id) => isDocId(id) && docKind(id) === "receipt")).toBe(true);
  });

  test("[PR-I7] ids are pinned: a change of the hash would orphan every stored document", () => {
    expect([piece, nodeIdFor(docId("piece:p"), "count")]).toMatchInlineSnapshot(`
      [
        "piece:n2rqvwig7j4nfwbbigf5cn6nnshcghd5red5uohnw737m67nyw5a",
        "node:pze2ejpbtipb2f3skmvydnhhwzbyjuj22i7sxf5y4djslq3vdgpa",
      ]
    `);
  });

  test("[PR-I7] an id's prefix tells what the document is", () => {
    const kinds = [piece, streamIdFor(piece, "a"), nodeIdFor(piece, "a"), ACL_DOC].map(docKind);
    expect(kinds).toEqual(["piece", "stream", "node", "sys"]);
    expect(["toString:x", "constructor", "pieces:x", ":x"].map((id) => docKind(docId(id)))).toEqual(
      ["other", "other", "other", "other"],
    );
  });

  test("[PR-I8] the system's documents are reserved, and no others", () => {
    expect(RESERVED).toEqual([ACL_DOC, WATERMARK_DOC, EFFECTS_DOC, ATTENTION_DOC]);
    expect(RESERVED.every(isReserved)).toBe(true);
    expect(isReserved(docId("sys:later"))).toBe(true);
    expect(isReserved(docId("system"))).toBe(false);
  });
});
