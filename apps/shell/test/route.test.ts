import { expect, test } from "vitest";
import { parseRoute, pieceHref, spaceHref } from "../src/app/route.js";

const SPACE = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH" as never;
const PIECE = "piece:abcdef" as never;

test("links to spaces and pieces are read back as they were made", () => {
  expect(parseRoute(spaceHref(SPACE))).toEqual({ page: "space", space: SPACE });
  expect(parseRoute(`${spaceHref(SPACE)}/`)).toEqual({ page: "space", space: SPACE });
  expect(parseRoute(pieceHref(SPACE, PIECE))).toEqual({
    page: "piece",
    space: SPACE,
    piece: PIECE,
  });
  const escaped = `#/space/${encodeURIComponent(SPACE)}/piece/${encodeURIComponent(PIECE)}`;
  expect(parseRoute(escaped)).toEqual({ page: "piece", space: SPACE, piece: PIECE });
});

test.each(["", "#", "#/", "/"])("%j is the start", (hash) => {
  expect(parseRoute(hash)).toEqual({ page: "home" });
});

test.each([
  "#/space",
  "#/space/",
  "#/space/did:key:nonsense",
  "#/space/%E0%A4%A",
  "#/elsewhere",
  `#/space/${SPACE}/piece`,
  `#/space/${SPACE}/piece/`,
  `#/space/${SPACE}/piece/node:abc`,
  `#/space/${SPACE}/pieces/${PIECE}`,
  `#/space/${SPACE}/piece/${PIECE}/more`,
])("%j leads nowhere, and throws nothing", (hash) => {
  expect(parseRoute(hash)).toEqual({ page: "unknown", hash });
});
