import { unreachable } from "../base/assert.js";
import { ProtocolError } from "../errors/refusals.js";
import { ScopeError } from "../errors/values.js";
import { type Brand, type DocId, isDocId, type Principal, type SessionId } from "../ids/ids.js";
import { decodePart, encodePart } from "./parts.js";

/** Who a value belongs to, broad to narrow (scopes.md). */
export type ScopeKind = "space" | "user" | "session";

/** `space`, `user:${enc(principal)}` or `session:${enc(principal)}:${enc(session)}`, canonical. */
export type ScopeKey = Brand<string, "ScopeKey">;

/**
 * Whom a run acts as. `session: "server"` and no session at all both mean that no session acts;
 * no user means that nobody does (scopes.md, "Whose run it is").
 */
export interface Actor {
  readonly user?: Principal;
  readonly session?: SessionId | "server";
}

/** `${scopeKey} ${docId}`: one instance of one document, the key of every in-memory map. */
export type InstanceKey = Brand<string, "InstanceKey">;

/** The kinds, broad to narrow. */
export const SCOPE_KINDS: readonly ScopeKind[] = Object.freeze(["space", "user", "session"]);

/** The one instance of a space-scoped document. */
export const SPACE_SCOPE_KEY = "space" as ScopeKey;

const USER = "user:";
const SESSION = "session:";
/** How the keys of space-scoped instances begin. */
const SPACE_SCOPED = `${SPACE_SCOPE_KEY} `;

/** True for the name of a kind. */
export function isScopeKind(value: unknown): value is ScopeKind {
  return value === "space" || value === "user" || value === "session";
}

/** The key of a user's instances. @throws ScopeError when the principal is no usable text. */
export function userScopeKey(user: Principal): ScopeKey {
  return `${USER}${part(user, "principal")}` as ScopeKey;
}

/** The key of a session's instances. @throws ScopeError when a part is no usable text. */
export function sessionScopeKey(user: Principal, session: SessionId): ScopeKey {
  if ((session as string) === "server") {
    throw new ScopeError('"server" is no session and has no instances (seed 000 §2).', {
      reason: "malformed",
    });
  }
  return `${SESSION}${part(user, "principal")}:${part(session, "session")}` as ScopeKey;
}

/** The parts of a scope key. */
export type ScopeParts =
  | { readonly kind: "space" }
  | { readonly kind: "user"; readonly user: Principal }
  | { readonly kind: "session"; readonly user: Principal; readonly session: SessionId };

/**
 * The parts of a canonical scope key, undefined for any other text: `user:a/b` and `user:a%2fb` are
 * refused, since the constructors write `user:a%2Fb`. Never throws.
 */
export function parseScopeKey(text: string): ScopeParts | undefined {
  if (text === SPACE_SCOPE_KEY) return { kind: "space" };
  if (text.startsWith(USER)) {
    const user = decodePart(text.slice(USER.length));
    return user === undefined ? undefined : { kind: "user", user: user as Principal };
  }
  if (!text.startsWith(SESSION)) return undefined;
  const colon = text.indexOf(":", SESSION.length);
  if (colon < 0) return undefined;
  const user = decodePart(text.slice(SESSION.length, colon));
  const session = decodePart(text.slice(colon + 1));
  if (user === undefined || session === undefined || session === "server") return undefined;
  return { kind: "session", user: user as Principal, session: session as SessionId };
}

/** True for what the constructors of this file make, and nothing else. Never throws. */
export function isScopeKey(value: unknown): value is ScopeKey {
  return typeof value === "string" && parseScopeKey(value) !== undefined;
}

/** The kind of a canonical key, by its first letters alone. */
export function scopeKindOf(scopeKey: ScopeKey): ScopeKind {
  if (scopeKey === SPACE_SCOPE_KEY) return "space";
  return scopeKey.startsWith(USER) ? "user" : "session";
}

function part(text: string, what: string): string {
  const encoded = encodePart(text);
  if (encoded !== undefined) return encoded;
  throw new ScopeError(`A scope key needs a ${what} of well-formed, non-empty text.`, {
    reason: "malformed",
  });
}

/**
 * The instance of a document of scope `kind` that a run acting as `actor` means.
 *
 * @throws ScopeError with code "no-acting-user" or "no-acting-session" where nobody acts: a
 * sessionless actor has no session instance, and there is no fallback to a broader one (seed 000 §2).
 */
export function resolveScopeKey(kind: ScopeKind, actor: Actor): ScopeKey {
  switch (kind) {
    case "space":
      return SPACE_SCOPE_KEY;
    case "user":
      return userScopeKey(actingUser(actor, kind));
    case "session":
      return sessionScopeKey(actingUser(actor, kind), actingSession(actor));
    default:
      return unreachable(kind);
  }
}

/**
 * True when rows of this instance go to that session: `space`, the user's own, the session's own
 * (protocol.md §4). Decides delivery, never authority (scopes.md).
 */
export function scopeApplies(
  scopeKey: ScopeKey,
  recipient: { readonly user: Principal; readonly session: SessionId },
): boolean {
  if (scopeKey === SPACE_SCOPE_KEY) return true;
  return scopeKey.startsWith("user:")
    ? scopeKey === userScopeKey(recipient.user)
    : scopeKey === sessionScopeKey(recipient.user, recipient.session);
}

function actingUser(actor: Actor, kind: ScopeKind): Principal {
  if (actor.user !== undefined) return actor.user;
  const code = kind === "session" && !hasSession(actor) ? "no-acting-session" : "no-acting-user";
  throw nobodyActs(kind, code);
}

function actingSession(actor: Actor): SessionId {
  if (hasSession(actor)) return actor.session as SessionId;
  throw nobodyActs("session", "no-acting-session");
}

function hasSession(actor: Actor): boolean {
  return actor.session !== undefined && actor.session !== "server";
}

function nobodyActs(kind: ScopeKind, reason: "no-acting-user" | "no-acting-session"): ScopeError {
  const missing = reason === "no-acting-user" ? "user" : "session";
  return new ScopeError(
    `A ${kind}-scoped document has no instance here: no ${missing} is acting in this run ` +
      "(seed 000 §2). Fire the event from a client session, or use a space-scoped cell.",
    { reason },
  );
}

/** The key of one instance. One concatenation and no check: it runs on every read of every run. */
export function instanceKey(id: DocId, scopeKey: ScopeKey): InstanceKey {
  return `${scopeKey} ${id}` as InstanceKey;
}

/**
 * The parts of a key made by {@link instanceKey}.
 *
 * @throws ProtocolError for any other text.
 */
export function parseInstanceKey(key: InstanceKey): {
  readonly id: DocId;
  readonly scopeKey: ScopeKey;
} {
  const space = key.indexOf(" ");
  const id = key.slice(space + 1);
  if (key.startsWith(SPACE_SCOPED)) {
    // By far the most: nothing to take apart, and nothing to check but the id.
    if (isDocId(id)) return { id, scopeKey: SPACE_SCOPE_KEY };
  } else {
    const scopeKey = key.slice(0, Math.max(0, space));
    if (isScopeKey(scopeKey) && isDocId(id)) return { id, scopeKey };
  }
  throw new ProtocolError(`${JSON.stringify(key).slice(0, 120)} is not an instance key.`);
}
