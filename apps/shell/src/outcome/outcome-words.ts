import type { Outcome } from "@tidemark/client";
import type { Badge } from "../connection/connection-words.js";
import { outcomeWords } from "../words/error-words.js";

/** How far an event has come. */
export type Progress = { readonly kind: "sending" } | { readonly kind: "appended" } | Outcome;

/** The same in words. */
export function outcomeLine(progress: Progress, online: boolean): Badge {
  switch (progress.kind) {
    case "sending":
      return online
        ? { tone: "busy", text: "Sending…" }
        : { tone: "bad", text: "Kept here until the server is back." };
    case "appended":
      return { tone: "busy", text: "Received, working on it…" };
    case "consequenced":
      return { tone: "good", text: "Done." };
    default:
      return { tone: "bad", text: outcomeWords(progress) };
  }
}
