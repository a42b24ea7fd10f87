import { TRICKS } from "../intruder/tricks.js";
import type { JsonValue } from "@tidemark/protocol";

/** A step as a file has it. */
export type RawStep = Readonly<Record<string, JsonValue>>;

/** A plan is a scenario file (FORMAT.md) without expectations: what must hold is judged from outside. */
export interface PlanFile {
  readonly id: string;
  readonly title: string;
  readonly seed: number;
  readonly patterns: Readonly<Record<string, JsonValue>>;
  readonly spaces: Readonly<Record<string, JsonValue>>;
  readonly clients: Readonly<Record<string, JsonValue>>;
  readonly policy: Readonly<Record<string, JsonValue>>;
  readonly steps: readonly RawStep[];
}

/** The gates that every event's way leads through. */
export const LOOP_GATES = [
  "append:before-admit",
  "feed:before-apply",
  "drain:before-queue",
  "preflight:before",
  "handler:before-run",
  "handler:after-run",
  "seal:before",
  "wave:before-commit",
  "wave:after-commit",
  "push:before",
  "lease:before-renew",
  "activate:after-lease",
  "park:before",
  "dispose:before",
] as const;

/** The gates that the parts of today reach. */
export const REACHED_GATES = [
  ...LOOP_GATES,
  "access:after-commit",
  "effect:before-dispatch",
  "effect:before-completion",
  "effect:after-completion",
] as const;

/** A gate that the parts reach. */
export type ReachedGate = (typeof REACHED_GATES)[number];

/** What can happen at a gate. */
export const GATE_FAULTS = ["hold", "fail", "crash"] as const;

/** What can happen to a world elsewhere than at a gate. Each counts where it struck something. */
export const WORLD_FAULTS = [
  "a live lease is stolen",
  "a lease is stolen while its holder stands still",
  "a holder stands still past its lease",
  "a holder's clock steps by an hour",
  "the store's clock steps on past a live lease",
  "the store's clock steps back under a live lease",
  "a store does not open",
  "a transaction does not begin",
  "a row is not written",
  "a lease step fails",
  "a wave is not written to disk",
  "an input is not written to disk",
  "a wave is on disk and told to have failed",
  "an input is on disk and told to have failed",
  "a disk is slow",
  "a request is answered late",
  "a request is failed",
  ...TRICKS.map((trick) => `somebody intrudes: ${trick}` as const),
] as const;

/** A fault elsewhere than at a gate. */
export type WorldFault = (typeof WORLD_FAULTS)[number];
