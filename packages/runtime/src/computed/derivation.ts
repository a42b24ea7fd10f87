import {
  FrameError,
  isTidemarkError,
  jsonEqual,
  SPACE_SCOPE_KEY,
  validateJson,
  type ActionId,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";
import type { ReadEntry, RunOutcome } from "@tidemark/scheduler";
import { runInFrame } from "../frame/frame.js";
import type { RunEnvironment } from "../piece/environment.js";
import { Transaction } from "../transaction/transaction.js";
import type { DerivationContext, EffectRun, LoggedRead, SealedRun } from "../types.js";

/** A derivation: its output, and the code that makes it. */
export interface DerivationSpec {
  readonly action: ActionId;
  readonly label: string;
  /** The document it writes. */
  readonly output: InstanceKey;
  /** Returns the next value; `undefined` deletes the document (R32). */
  readonly compute: (tx: Transaction) => unknown;
  /** Whether its code may send events. */
  readonly sends?: boolean;
  /** Says what becomes of an output; `undefined`: as the view shows it, it is elided, else written. */
  readonly fate?: (value: JsonValue | undefined) => OutputFate | undefined;
}

/**
 * What becomes of an output: it is written; named as elided, so that what the view shows stands or falls
 * with this run; or left, as if the run had no output.
 */
export type OutputFate = "write" | "elide" | "leave";

type Change = RunOutcome["changes"][number];

/** What one run wants to write beside its output, and what moved in the graph alone. */
export interface DerivationExtras {
  readonly changes: readonly Change[];
  /** Called once the run is sealed, before the changes take effect. */
  readonly accepted: () => void;
  /** What an effectful node's request came to. */
  readonly effect?: EffectRun;
}

/**
 * Runs a derivation once and seals it. The output is written only where it differs from what the view
 * shows; the reads are sealed either way, since they are what recovery goes by (seed 001 §3b).
 */
export function runDerivation(
  env: RunEnvironment,
  spec: DerivationSpec,
  after?: (tx: Transaction, value: JsonValue | undefined) => DerivationExtras,
): RunOutcome {
  const tx = openTransaction(env, spec);
  try {
    const value = computedValue(spec, tx);
    if (tx.suspension !== undefined) return disposed(env, spec, tx);
    const elided = writeOutput(env, spec, tx, value);
    const extras = after?.(tx, value);
    return sealDerivation(env, spec, tx, elided, extras);
  } catch (error) {
    if (tx.suspension !== undefined) return disposed(env, spec, tx);
    // The scheduler reports a cycle itself, once and with its path (R15).
    if (!isTidemarkError(error, "cycle")) {
      env.report({ kind: "computed-failed", action: spec.action, error });
    }
    return { reads: entriesOf(tx.reads), changes: [], failed: error };
  } finally {
    tx.close("its run is over");
  }
}

function openTransaction(env: RunEnvironment, spec: DerivationSpec): Transaction {
  return new Transaction(env.host, {
    kind: "derivation",
    label: spec.label,
    actor: {},
    ...(spec.sends === true ? { nextEventId: env.openSendOrigin().next } : {}),
  });
}

function computedValue(spec: DerivationSpec, tx: Transaction): JsonValue | undefined {
  const frame = { kind: "computed", label: spec.label, access: tx } as const;
  const value = runInFrame(frame, () => spec.compute(tx));
  if (value === undefined) return undefined;
  if (isThenable(value)) {
    throw new FrameError(`${spec.label} returned a promise: a computed is never async`, {
      builtin: spec.label,
    });
  }
  const json = validateJson(value);
  if (!json.ok) throw json.error;
  return json.value;
}

function writeOutput(
  env: RunEnvironment,
  spec: DerivationSpec,
  tx: Transaction,
  value: JsonValue | undefined,
): readonly InstanceKey[] {
  const fate = spec.fate?.(value) ?? fateInView(env, spec, value);
  if (fate === "write") {
    tx.output(spec.output, value === undefined ? { op: "delete" } : { op: "set", value });
  }
  return fate === "elide" ? [spec.output] : [];
}

function fateInView(
  env: RunEnvironment,
  spec: DerivationSpec,
  value: JsonValue | undefined,
): OutputFate {
  const shown = env.host.view.read(spec.output);
  return shown.state === "held" && sameValue(shown.value, value) ? "elide" : "write";
}

function sealDerivation(
  env: RunEnvironment,
  spec: DerivationSpec,
  tx: Transaction,
  elided: readonly InstanceKey[],
  extras: DerivationExtras | undefined,
): RunOutcome {
  const { reads: logged } = tx;
  const run: SealedRun = {
    context: contextOf(spec),
    reads: env.durableReads(logged),
    writes: tx.writes,
    sends: tx.sends,
    emits: [],
    ...(elided.length === 0 ? {} : { elided }),
    ...(extras?.effect === undefined ? {} : { effect: extras.effect }),
  };
  const verdict = env.seal.seal(run);
  const reads = entriesOf(logged);
  if (!verdict.ok) {
    env.report({ kind: "seal-refused", action: spec.action, error: verdict.error });
    return { reads, changes: [], failed: verdict.error };
  }
  extras?.accepted();
  return { reads, changes: [...verdict.changes, ...(extras?.changes ?? [])] };
}

function contextOf({ action }: DerivationSpec): DerivationContext {
  return { kind: "derivation", action, scopeKey: SPACE_SCOPE_KEY };
}

/** An input is not there: nothing is sealed, and the run repeats when one of its reads changes. */
function disposed(env: RunEnvironment, spec: DerivationSpec, tx: Transaction): RunOutcome {
  const reads = entriesOf(tx.reads);
  const suspension = tx.suspension;
  if (suspension === undefined || suspension.kind === "pending") {
    env.waiting(spec.action, suspension?.on);
    return { reads, changes: env.seal.withdraw?.(contextOf(spec)) ?? [] };
  }
  return { reads, changes: [], failed: suspension.error };
}

/** Reads as the scheduler subscribes to them. A foreign document has a key of its own. */
export function entriesOf(reads: readonly LoggedRead[]): readonly ReadEntry[] {
  return reads.map(({ key, path, kind, space }) => ({
    key: space === undefined ? key : (`${space} ${key}` as InstanceKey),
    path,
    kind,
  }));
}

/** Whether two documents say the same; `undefined` is one that is absent. */
export function sameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return jsonEqual(a, b);
}

/** Whether a value is a promise of any make. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === "function"
  );
}
