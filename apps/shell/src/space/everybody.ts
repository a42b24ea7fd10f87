import type { Acl } from "@tidemark/protocol";

/** What everybody who is not named may do in a space. */
export type EverybodyMay = "change" | "look" | "nothing";

const LEVELS = { change: "WRITE", look: "READ" } as const;

/** What an access list gives to everybody. */
export function everybodyMay(acl: Acl): EverybodyMay {
  const level = acl["*"];
  if (level === undefined) return "nothing";
  return level === "READ" ? "look" : "change";
}

/** The list with another right for everybody; the people that it names keep theirs. */
export function withEverybody(acl: Acl, may: EverybodyMay): Acl {
  const { "*": _former, ...named } = acl;
  return may === "nothing" ? named : { ...named, "*": LEVELS[may] };
}
