import { expect, test } from "vitest";
import { everybodyMay, withEverybody } from "../src/space/everybody.js";

const OWNER = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH";

test("what everybody may do is read from the list and written into it, and nobody else loses anything", () => {
  const acl = { [OWNER]: "OWNER", streams: { s: { "*": "APPEND" } } } as never;
  expect(everybodyMay(acl)).toBe("nothing");
  for (const may of ["change", "look", "nothing"] as const) {
    const changed = withEverybody(withEverybody(acl, "change"), may);
    expect(everybodyMay(changed)).toBe(may);
    expect(changed).toMatchObject(acl);
  }
  expect(withEverybody(withEverybody(acl, "look"), "nothing")).toEqual(acl);
});
