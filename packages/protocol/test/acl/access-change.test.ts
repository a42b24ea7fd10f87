import { expect, test } from "vitest";
import {
  type Acl,
  aclLevel,
  changeAcl,
  docId,
  grantOf,
  identityFromSeed,
  mayAppend,
  revocationOf,
} from "../../src/index.js";

const ana = identityFromSeed(new Uint8Array(32).fill(1)).did;
const ben = identityFromSeed(new Uint8Array(32).fill(2)).did;
const stream = docId("stream:s");

test("[PR-A5] a grant adds its grantee, raises or lowers one that is there, and keeps the rest", () => {
  const acl: Acl = { [ana]: "OWNER", "*": "READ", streams: { [stream]: { [ben]: "APPEND" } } };
  const wider = changeAcl(acl, [grantOf(ben, "WRITE")]);
  expect(wider).toEqual({ ...acl, [ben]: "WRITE" });
  expect(changeAcl(wider, [grantOf(ben, "READ")])).toEqual({ ...acl, [ben]: "READ" });
  expect(changeAcl(acl, [grantOf("*", "WRITE")])).toEqual({ ...acl, "*": "WRITE" });
});

test("[PR-A5] a revocation takes level and appends, and leaves everybody's", () => {
  const acl: Acl = {
    [ana]: "OWNER",
    [ben]: "WRITE",
    "*": "READ",
    streams: { [stream]: { [ben]: "APPEND", [ana]: "APPEND" } },
  };
  const left = changeAcl(acl, [revocationOf(ben)]);
  expect(left).toEqual({ [ana]: "OWNER", "*": "READ", streams: { [stream]: { [ana]: "APPEND" } } });
  expect([aclLevel(left, ben), mayAppend(left, ben, stream)]).toEqual(["READ", false]);
});

test("[PR-A5] changes are made in turn", () => {
  const acl: Acl = { [ana]: "OWNER" };
  const changes = [grantOf(ben, "OWNER"), revocationOf(ana), grantOf(ben, "WRITE")];
  expect(changeAcl(acl, changes)).toEqual({ [ben]: "WRITE" });
});

test("[PR-A5] what changes nothing leaves the very list", () => {
  const acl: Acl = { [ana]: "OWNER", streams: { [stream]: { [ana]: "APPEND" } } };
  expect(changeAcl(acl, [grantOf(ana, "OWNER"), revocationOf(ben)])).toBe(acl);
  expect(changeAcl(acl, [])).toBe(acl);
});

test.each([
  ["a name", () => grantOf("ben", "READ"), "grantee"],
  ["nothing", () => revocationOf(undefined), "grantee"],
  ["the streams' own key", () => grantOf("streams", "READ"), "grantee"],
  ["a level that is none", () => grantOf(ben, "APPEND"), "level"],
  ["a prototype's name as a level", () => grantOf(ben, "constructor"), "level"],
])("[PR-A6] %s is refused", (_what, change, part) => {
  expect(change).toThrow(
    expect.objectContaining({ code: "protocol", details: { path: [part] } }) as Error,
  );
});
