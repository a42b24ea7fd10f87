import type { ACL_LEVELS } from "@tidemark/protocol";

/** A level of an access list, the lowest first. */
export type Level = (typeof ACL_LEVELS)[number];

/** A change of the access list that a handler of the board asks for, by people's names. */
export type NamedChange =
  | { readonly kind: "grant"; readonly who: string; readonly level: Level }
  | { readonly kind: "revoke"; readonly who: string };

/** Somebody whom no access list names until an event does. */
export const STRANGER = "frank";

/** Everybody whom an access list may name. */
export const PEOPLE = ["alice", "bob", "carol", "dave", STRANGER] as const;

const grant = (who: string, level: Level): NamedChange => ({ kind: "grant", who, level });
const revoke = (who: string): NamedChange => ({ kind: "revoke", who });

/**
 * What the handlers of the board that change the access list ask for: the number of the payload says which. Everybody
 * may be let read and no more, so that intruders stay intruders.
 */
export const ACCESS_CHANGES: Readonly<Record<string, readonly (readonly NamedChange[])[]>> = {
  invite: [
    [grant("bob", "READ")],
    [grant("bob", "WRITE")],
    [grant("bob", "OWNER")],
    [grant("carol", "READ")],
    [grant("carol", "OWNER")],
    [grant("dave", "READ")],
    [grant(STRANGER, "READ")],
    [grant(STRANGER, "WRITE")],
    [grant("*", "READ")],
    [grant("alice", "OWNER")],
    [grant("alice", "WRITE")],
  ],
  expel: ["bob", "carol", "dave", STRANGER, "*", "alice"].map((who) => [revoke(who)]),
  cede: [
    [grant("bob", "OWNER"), revoke("alice")],
    [revoke("*"), revoke("bob")],
    [grant("carol", "OWNER"), grant("alice", "READ")],
  ],
};

/** Whether a handler of the board asks for access. */
export function asksAccess(handler: string): boolean {
  return Object.hasOwn(ACCESS_CHANGES, handler);
}

/** What a run of the handler asks for; nothing for one that asks for none. */
export function changesAsked(handler: string, n: number): readonly NamedChange[] {
  return (Object.hasOwn(ACCESS_CHANGES, handler) && ACCESS_CHANGES[handler]?.[n]) || [];
}
