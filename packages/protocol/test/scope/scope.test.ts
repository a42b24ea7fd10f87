import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  docId,
  identityFromSeed,
  instanceKey,
  type InstanceKey,
  isScopeKey,
  isScopeKind,
  parseInstanceKey,
  parseScopeKey,
  type Principal,
  ProtocolError,
  resolveScopeKey,
  SCOPE_KINDS,
  scopeApplies,
  ScopeError,
  scopeKindOf,
  sessionId,
  type SessionId,
  sessionScopeKey,
  SPACE_SCOPE_KEY,
  userScopeKey,
} from "../../src/index.js";

const ana = identityFromSeed(new Uint8Array(32).fill(1)).did;
const ben = identityFromSeed(new Uint8Array(32).fill(2)).did;
const a1 = sessionId("a1");
const a2 = sessionId("a2");

/** Any text at all, lone surrogates and delimiters included. */
const anyText = fc.oneof(
  fc.constantFrom("", "a/b", "a%2fb", "a:b", "server", "\ud800", "é", "e\u0301", "a b", "%", "😀"),
  fc.string({ unit: fc.nat({ max: 0xffff }).map((n) => String.fromCharCode(n)), maxLength: 5 }),
);

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    expect(error).toBeInstanceOf(ScopeError);
    return undefined;
  }
}

describe("scope keys", () => {
  test("[PR-I9] every key that a constructor makes is valid and parses to its parts", () => {
    fc.assert(
      fc.property(anyText, anyText, (user, session) => {
        const userKey = attempt(() => userScopeKey(user as Principal));
        if (userKey !== undefined) {
          expect(parseScopeKey(userKey)).toEqual({ kind: "user", user });
          expect(scopeKindOf(userKey)).toBe("user");
        }
        const key = attempt(() => sessionScopeKey(user as Principal, session as SessionId));
        if (key !== undefined) {
          expect(parseScopeKey(key)).toEqual({ kind: "session", user, session });
          expect(scopeKindOf(key)).toBe("session");
          expect(key).not.toContain(" ");
        }
      }),
    );
  });

  test("[PR-I9] every valid key is one that a constructor makes, and the validator never throws", () => {
    const prefixed = fc
      .tuple(fc.constantFrom("space", "user:", "session:", "session:x:", ""), anyText)
      .map(([prefix, rest]) => prefix + rest);
    fc.assert(
      fc.property(fc.oneof(prefixed, anyText), (text) => {
        const parts = parseScopeKey(text);
        expect(isScopeKey(text)).toBe(parts !== undefined);
        if (parts?.kind === "space") expect(text).toBe(SPACE_SCOPE_KEY);
        if (parts?.kind === "user") expect(userScopeKey(parts.user)).toBe(text);
        if (parts?.kind === "session") {
          expect(sessionScopeKey(parts.user, parts.session)).toBe(text);
        }
      }),
    );
  });

  test("[PR-I9] keys in another spelling than the constructor's are refused", () => {
    const bad = [
      "user:a/b",
      "user:a%2fb",
      "user:%61",
      "user:",
      "user",
      "user:a:b",
      "user:%",
      "user:%ED%A0%80",
      "user:\ud800",
      "session:a",
      "session::b",
      "session:a:",
      "session:a:b:c",
      "session:a:server",
      "Space",
      "space ",
      "",
      "__proto__",
    ];
    for (const key of bad) expect(isScopeKey(key)).toBe(false);
    for (const key of [undefined, null, 4, {}]) expect(isScopeKey(key)).toBe(false);
    expect(isScopeKey("user:a%2Fb")).toBe(true);
  });

  test("[PR-I9] a key of empty or ill-formed parts, or of nobody's session, cannot be made", () => {
    const attempts = [
      () => userScopeKey("" as Principal),
      () => userScopeKey("\ud800" as Principal),
      () => sessionScopeKey(ana, "" as SessionId),
      () => sessionScopeKey(ana, "server" as SessionId),
    ];
    for (const make of attempts) expect(make).toThrow(ScopeError);
  });

  test("[PR-I9] the names of the kinds are a closed list", () => {
    expect(SCOPE_KINDS.every(isScopeKind)).toBe(true);
    expect(["toString", "Space", "", undefined, 0].some(isScopeKind)).toBe(false);
  });
});

describe("resolveScopeKey", () => {
  test("[PR-I10] a scope resolves to the acting user's and session's instance", () => {
    const actor = { user: ana, session: a1 };
    expect(resolveScopeKey("space", {})).toBe("space");
    expect(resolveScopeKey("user", actor)).toBe(userScopeKey(ana));
    expect(resolveScopeKey("session", actor)).toBe(sessionScopeKey(ana, a1));
    expect(resolveScopeKey("user", { user: ana, session: "server" })).toBe(userScopeKey(ana));
  });

  test("[PR-I10] nobody's instance is an error that names who is missing, never a fallback", () => {
    const cases = [
      ["session", { user: ana, session: "server" }, "no-acting-session"],
      ["session", { user: ana }, "no-acting-session"],
      ["session", { session: "server" }, "no-acting-session"],
      ["session", { session: a1 }, "no-acting-user"],
      ["user", { session: "server" }, "no-acting-user"],
      ["user", {}, "no-acting-user"],
    ] as const;
    for (const [kind, actor, code] of cases) {
      expect(() => resolveScopeKey(kind, actor)).toThrow(
        expect.objectContaining({ name: "ScopeError", code }),
      );
    }
  });
});

describe("scopeApplies", () => {
  test("[PR-I11] a session is sent the space's, its user's and its own instances alone", () => {
    const me = { user: ana, session: a1 };
    const mine = [SPACE_SCOPE_KEY, userScopeKey(ana), sessionScopeKey(ana, a1)];
    const others = [userScopeKey(ben), sessionScopeKey(ana, a2), sessionScopeKey(ben, a1)];
    expect(mine.every((key) => scopeApplies(key, me))).toBe(true);
    expect(others.some((key) => scopeApplies(key, me))).toBe(false);
  });
});

describe("instance keys", () => {
  test("[PR-I12] one document has a key for each scope, and the key leads back to both", () => {
    const id = docId("node:x");
    const keys = [SPACE_SCOPE_KEY, userScopeKey(ana), sessionScopeKey(ana, a1)].map((scopeKey) => {
      const key = instanceKey(id, scopeKey);
      expect(parseInstanceKey(key)).toEqual({ id, scopeKey });
      return key;
    });
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toBe("space node:x");
  });

  test("[PR-I12] a text that is no instance key is refused", () => {
    for (const text of ["", "space", " node:x", "space ", "space a b", "user:a/b node:x"]) {
      expect(() => parseInstanceKey(text as InstanceKey)).toThrow(ProtocolError);
    }
  });
});
