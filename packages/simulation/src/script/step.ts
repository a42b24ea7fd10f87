import type { GateName } from "@tidemark/protocol";
import type { Configuration } from "../model/configuration.js";

/** What the handler of an event is told to do, beyond changing its stream's cell. */
export interface Orders {
  readonly waits?: true;
  readonly throws?: true;
  /** It sends one on to `y`, and what that one's handler is told. */
  readonly sends?: Orders;
}

/** One thing that is done to a real world, or waited for in it. */
export type ScriptStep =
  | { readonly do: "start"; readonly process: string }
  /** Somebody asks a process for the space: a session the first time, a warm request later on. */
  | { readonly do: "ask"; readonly process: string }
  | {
      readonly do: "hold" | "fail";
      readonly process: string;
      readonly gate: GateName;
      readonly event?: string;
    }
  | { readonly do: "reached" | "release"; readonly process: string; readonly gate: GateName }
  | {
      readonly do: "append";
      readonly stream: string;
      readonly event: string;
      readonly orders: Orders;
      readonly refused: boolean;
    }
  | { readonly do: "write"; readonly stream: string }
  /** The handler of a stream's event that waits goes on, once it does. */
  | { readonly do: "let"; readonly stream: string }
  | { readonly do: "advance" | "steal"; readonly ms: number }
  | { readonly do: "crash" | "freeze" | "thaw" | "leave"; readonly process: string }
  | { readonly do: "compact" };

/** A way of the model as it is played to a real world. */
export interface Script {
  /** The situation that it was written for. */
  readonly situation: string;
  readonly configuration: Configuration;
  readonly steps: readonly ScriptStep[];
}

/** How long a lease lasts in a script's world; the model's lasts two units of time. */
export const LEASE_MS = 15_000;
/** A unit of the model's time: one leaves a lease live, two do not, and what back-offs take changes neither. */
export const UNIT_MS = 9_000;
/** A lease that nothing holds back is renewed within it. */
export const RENEWED_MS = 5_000;
/** A configuration that cuts cycles has this flush deadline; the others have one that nothing meets. */
export const CUT_MS = 100;
export const IDLE_PARK_MS = 1_000;
/** Longer than what an event that nothing runs is deferred before it drops. */
export const DEFERRED_MS = 300;
