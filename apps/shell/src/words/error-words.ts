import type { Outcome, SpaceState } from "@tidemark/client";

/** Something that went wrong, for a person. */
export interface Trouble {
  readonly title: string;
  readonly words: string;
}

type Failed = Exclude<Outcome, { readonly kind: "consequenced" }>;

const OUTCOMES: Readonly<Record<Failed["kind"], (reason: string) => string>> = {
  errored: (reason) => `That did not work: ${reason}`,
  refused: (reason) => `That is not allowed: ${reason}`,
  dropped: () => "That came too late: what it was about is gone.",
  "needs-attention": () => "That got stuck, and somebody has to look at it.",
  "append-refused": (reason) => `The server did not take it: ${plain(reason)}`,
};

/** How an event that had no effect ended. */
export function outcomeWords(outcome: Failed): string {
  return OUTCOMES[outcome.kind](outcome.reason);
}

/** Reasons name principals and ids, which help nobody who reads them on a page. */
function plain(reason: string): string {
  if (/may not (append|write)|not permitted|no right|READ/iu.test(reason)) {
    return "you may look at this space, but not change it.";
  }
  return reason.replaceAll(/did:key:\S+?(?=[\s,;:]|$)/gu, "this space");
}

/** Why a space does not show, where there is a reason; `undefined` while it is simply on its way. */
export function spaceTrouble(state: SpaceState, wasOpen: boolean): Trouble | undefined {
  const error = state.state === "denied" || state.state === "opening" ? state.error : undefined;
  if (error === undefined) return undefined;
  if (error.code === "unauthorized") return wasOpen ? REVOKED : UNKNOWN;
  if (error.code === "storage") return BROKEN;
  return { title: "This space does not open", words: error.message };
}

const UNKNOWN: Trouble = {
  title: "Nothing to see under this link",
  words:
    "Either there is no such space on this server, or it has not been shared with you. Check that the whole link was copied, or ask whoever sent it.",
};

const REVOKED: Trouble = {
  title: "This space is no longer shared with you",
  words: "Somebody who owns it has changed who may look at it. What you did here before is kept.",
};

const BROKEN: Trouble = {
  title: "This space cannot be read",
  words: "The server has trouble with the file that holds it. Whoever runs the server can see why.",
};

/** The link leads to no page at all. */
export const BROKEN_LINK: Trouble = {
  title: "This link leads nowhere",
  words:
    "It may have been cut off when it was copied. Spaces are found under links that begin with #/space/.",
};

/** Nothing has been heard of the server yet. */
export const NO_SERVER: Trouble = {
  title: "The server does not answer",
  words:
    "It may be starting, or be gone for a moment. This page goes on by itself as soon as it is back.",
};

/** The server has no demo space, and no link was given. */
export const NO_DEMO: Trouble = {
  title: "Nothing here yet",
  words: "This server has no demo. Open a space with the link that somebody gave you.",
};
