import type { EventId, SpaceId } from "../ids/ids.js";

/** The named points at which a test can hold, fail or crash a server process (FORMAT.md, "Gates"). */
export const GATE_NAMES = [
  "append:before-admit",
  "feed:before-apply",
  "verb:after-commit",
  "drain:before-queue",
  "preflight:before",
  "handler:before-run",
  "handler:after-run",
  "seal:before",
  "wave:before-commit",
  "access:after-commit",
  "wave:after-commit",
  "push:before",
  "effect:before-dispatch",
  "effect:before-completion",
  "effect:after-completion",
  "foreign:before-commit",
  "foreign:after-commit",
  "append-out:before-send",
  "append-out:before-ack",
  "checkpoint:before-write",
  "notice:before-seal",
  "lease:before-renew",
  "park:before",
  "activate:after-lease",
  "consumer:after-handler",
  "executor:after-effect",
  "intent:after-effect",
  "lake:after-ship",
  "dispose:before",
] as const;

/** A gate's name: part of the public test API. */
export type GateName = (typeof GATE_NAMES)[number];

/** Where a gate is passed: whose space, and the event that owns the operation, where one does. */
export interface GatePoint {
  readonly space: SpaceId;
  readonly event?: EventId;
}

/**
 * The seam for holding and failing. `undefined` means pass on at once, so that production code pays
 * one call and no promise. A promise holds the caller until it resolves; its rejection, or a throw,
 * is the failure of the operation behind the gate. No gate is awaited inside a store transaction.
 */
export interface Gates {
  pass(name: GateName, at: GatePoint): Promise<void> | undefined;
}

/** Production's gates: always open. */
export const openGates: Gates = { pass: () => undefined };
