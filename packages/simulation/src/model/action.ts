import type { Pos, Sent } from "./state.js";

/**
 * What can happen. What depends on an answer of the system carries the answer: a step refuses the wrong one. With
 * `closed` something is told late: it had joined the wave that commits, or been proved for it, before that was closed.
 */
export type Action =
  /** A client's append, and whether it was admitted. */
  | {
      readonly do: "append";
      readonly stream: string;
      readonly event: string;
      readonly admitted: boolean;
      /** Its handler asks for changes of the access list. */
      readonly asks?: true;
    }
  /** What a run of the wave that is handed over asks of the access list lands, ahead of the wave. */
  | { readonly do: "access"; readonly process: string; readonly event: string }
  /** A copy within the wave asked for access, which it may not: its entry lands open, and is drained. */
  | { readonly do: "withhold"; readonly process: string; readonly event: string }
  /** An authored or system commit that writes documents, or the answer to a request: derived, and no wave. */
  | { readonly do: "write"; readonly races: readonly string[]; readonly answer?: true }
  | { readonly do: "tick"; readonly by: number }
  | { readonly do: "compact"; readonly gone: readonly Pos[] }
  | {
      readonly do: "acquire";
      readonly process: string;
      readonly ttl: number;
      readonly won: boolean;
    }
  | { readonly do: "renew"; readonly process: string; readonly ttl: number; readonly kept: boolean }
  | { readonly do: "release"; readonly process: string }
  /** Somebody writes the row by hand. */
  | { readonly do: "steal"; readonly holder: string; readonly ttl: number }
  | { readonly do: "activate"; readonly process: string }
  /** The view takes in what the store holds; `seen`: how much of it at least. */
  | { readonly do: "view"; readonly process: string; readonly seen: number }
  | { readonly do: "drain"; readonly process: string; readonly pos: Pos }
  | { readonly do: "passOver"; readonly process: string; readonly pos: Pos; readonly closed?: true }
  | { readonly do: "drop"; readonly process: string; readonly pos: Pos; readonly closed?: true }
  | { readonly do: "begin"; readonly process: string; readonly pos: Pos }
  /** A copy of what the open wave itself sends begins. */
  | { readonly do: "beginCopy"; readonly process: string; readonly event: string }
  | { readonly do: "end"; readonly process: string; readonly how: "ok" | "throws" }
  /** The run that ended joins the open wave. */
  | {
      readonly do: "seal";
      readonly process: string;
      readonly sends: readonly Sent[];
      readonly closed?: true;
    }
  /** A delivery ended without a seal; what is queued behind it goes back too. */
  | { readonly do: "giveBack"; readonly process: string }
  | {
      readonly do: "settle";
      readonly process: string;
      readonly through: number;
      readonly closed?: true;
    }
  | { readonly do: "close"; readonly process: string }
  | CommitAction
  /** The store refuses the wave, or an answer beside it: the row does not name this holder live. */
  | { readonly do: "refuse"; readonly process: string; readonly answer?: true }
  /** The wave is lost for another reason. */
  | { readonly do: "abort"; readonly process: string }
  | { readonly do: "tell"; readonly process: string }
  | { readonly do: "start"; readonly process: string; readonly holder: string }
  | { readonly do: "crash"; readonly process: string }
  | { readonly do: "suspend"; readonly process: string }
  | { readonly do: "resume"; readonly process: string };

/** An entry that a wave appends, ended in the same commit where its copy ran. */
export interface SentEntry {
  readonly pos: Pos;
  readonly stream: string;
  readonly event: string;
  /** What its copy was known by while it had no entry; absent where that is its id. */
  readonly copy?: string;
  readonly ended: boolean;
  /** Its handler asks for changes of the access list. */
  readonly asks?: true;
}

/** The store accepts a wave: what of it fell, and where W went. */
export interface CommitAction {
  readonly do: "commit";
  readonly process: string;
  /** Entries whose consequence went back. */
  readonly falls: readonly Pos[];
  /** False where everything fell and nothing was written. */
  readonly writes: boolean;
  /** Where W goes; absent where it stays. */
  readonly watermark?: number;
  /** The lowest input that a demanded derivation has not taken in, where that was observed. */
  readonly behind?: number;
  readonly sent: readonly SentEntry[];
  /** Whether it carries more than W, where that was observed: derived values are not seen in a wave. */
  readonly content?: boolean;
  /** The frontiers that it writes, where they were observed. */
  readonly frontiers?: Readonly<Record<string, number>>;
}

export type ActionOf<Name extends Action["do"]> = Extract<Action, { readonly do: Name }>;

/** What came of a step: the next state, and by which way it went. */
export type StepResult<State> =
  | { readonly ok: true; readonly state: State; readonly outcome: string }
  | { readonly ok: false; readonly why: string };
