import { expect, test } from "vitest";
import {
  type Acl,
  aclLevel,
  aclProblem,
  AclSchema,
  docId,
  identityFromSeed,
  isOwner,
  mayAppend,
  mayRead,
  mayWrite,
  type Principal,
} from "../../src/index.js";

const ana = identityFromSeed(new Uint8Array(32).fill(1)).did;
const ben = identityFromSeed(new Uint8Array(32).fill(2)).did;
const stream = docId("stream:s");
const other = docId("stream:t");

test("[PR-A1] the greater of the principal's own level and everybody's counts", () => {
  const acl: Acl = { [ana]: "READ", "*": "WRITE" };
  expect(aclLevel(acl, ana)).toBe("WRITE");
  expect(aclLevel({ [ana]: "OWNER", "*": "READ" }, ana)).toBe("OWNER");
  expect(aclLevel({ [ana]: "OWNER", "*": "READ" }, ben)).toBe("READ");
  expect(aclLevel({ [ana]: "OWNER" }, ben)).toBeUndefined();
  expect(aclLevel({ [ana]: "READ" }, ana)).toBe("READ");
  expect(aclLevel(acl, undefined)).toBe("WRITE");
  expect(aclLevel({}, ana)).toBeUndefined();
});

test.each<[Acl, boolean, boolean, boolean]>([
  [{}, false, false, false],
  [{ [ana]: "READ" }, true, false, false],
  [{ [ana]: "WRITE" }, true, true, false],
  [{ [ana]: "OWNER" }, true, true, true],
])("[PR-A1] %j: each level holds the ones before", (acl, reads, writes, owns) => {
  expect([mayRead(acl, ana), mayWrite(acl, ana), isOwner(acl, ana)]).toEqual([reads, writes, owns]);
});

test("[PR-A2] an append needs WRITE, or a grant on that very stream", () => {
  expect(mayAppend({ [ana]: "WRITE" }, ana, stream)).toBe(true);
  expect(mayAppend({ [ana]: "READ" }, ana, stream)).toBe(false);
  const toAna: Acl = { "*": "READ", streams: { [stream]: { [ana]: "APPEND" } } };
  expect(mayAppend(toAna, ana, stream)).toBe(true);
  expect(mayAppend(toAna, ana, other)).toBe(false);
  expect(mayAppend(toAna, ben, stream)).toBe(false);
  const toAll: Acl = { streams: { [stream]: { "*": "APPEND" } } };
  expect([mayAppend(toAll, ben, stream), mayAppend(toAll, undefined, stream)]).toEqual([
    true,
    true,
  ]);
  expect(mayWrite(toAll, ben)).toBe(false);
});

test("[PR-A3] names of an object's prototype grant nothing", () => {
  for (const name of ["constructor", "__proto__", "toString"] as readonly string[]) {
    expect(aclLevel({}, name as Principal)).toBeUndefined();
    expect(mayAppend({ streams: {} }, ana, docId(name))).toBe(false);
    expect(mayAppend({ streams: { [stream]: {} } }, name as Principal, stream)).toBe(false);
  }
});

test.each<[string, unknown, readonly string[]]>([
  ["no object", null, []],
  ["a list", [], []],
  ["a name", { bob: "READ" }, ["bob"]],
  ["a level of another case", { [ana]: "read" }, [ana]],
  ["an own __proto__", JSON.parse('{"__proto__":"OWNER"}'), ["__proto__"]],
  ["streams that are a level", { streams: "OWNER" }, ["streams"]],
  ["a stream with a space in it", { streams: { "a b": {} } }, ["streams", "a b"]],
  ["a grant that is no object", { streams: { [stream]: "APPEND" } }, ["streams", stream]],
  [
    "a grant of another level",
    { streams: { [stream]: { "*": "WRITE" } } },
    ["streams", stream, "*"],
  ],
  ["a grant to a name", { streams: { [stream]: { bob: "APPEND" } } }, ["streams", stream, "bob"]],
])("[PR-A4] %s is refused with its path", (_title, value, path) => {
  expect(aclProblem(value)?.path).toEqual(path);
  expect(AclSchema.safeParse(value).error?.issues[0]?.path).toEqual(path);
});

test("[PR-A4] a well-formed list is taken as it is", () => {
  const acl: Acl = { [ana]: "OWNER", "*": "WRITE", streams: { [stream]: { [ben]: "APPEND" } } };
  expect(AclSchema.parse(acl)).toBe(acl);
});
