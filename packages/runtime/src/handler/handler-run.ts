import {
  isTidemarkError,
  ProtocolError,
  TidemarkError,
  validateJson,
  type ActionId,
  type InstanceKey,
  type JsonValue,
  type Link,
  type Principal,
} from "@tidemark/protocol";
import { markEvent, type EventMarks } from "@tidemark/events";
import { isThenable } from "../computed/derivation.js";
import { contextFor } from "../frame/context.js";
import { openEventScope } from "../frame/event-scope.js";
import { runInFrame } from "../frame/frame.js";
import type { HandlerNode } from "../pattern/build-scope.js";
import type { RunEnvironment } from "../piece/environment.js";
import { Transaction } from "../transaction/transaction.js";
import type { RunContext, SealedRun } from "../types.js";
import { parsePayloadBy } from "./closed-payload.js";

type HandlerContextKind = Extract<RunContext, { kind: "event-handler" }>;

/** One run of a handler for one event. */
export interface HandlerCall {
  readonly node: HandlerNode;
  readonly label: string;
  readonly action: ActionId;
  /** The stream, its space included. */
  readonly stream: Link;
  readonly payload: JsonValue | undefined;
  readonly marks: EventMarks;
  readonly at: number;
  readonly context: HandlerContextKind;
}

/** How a run ended (R14, R22, R33). */
export type HandlerOutcome =
  /** Its writes are in the destination, and `value` is its receipt. */
  | { readonly kind: "sealed"; readonly value: JsonValue | undefined }
  /** It threw, aborted, or its payload does not parse: an error consequence, and no writes. */
  | { readonly kind: "errored"; readonly error: TidemarkError }
  /** Its body did not run, or ran into an input that cannot be loaded: nothing is sealed (FS-04). */
  | {
      readonly kind: "not-run";
      readonly reason: string;
      /** The input, and why it cannot be loaded. */
      readonly on?: InstanceKey;
      readonly error?: unknown;
    }
  /** An input is not there yet; the attempt is abandoned and comes again under the same key (R22). */
  | { readonly kind: "pending"; readonly on: InstanceKey }
  /** The destination refused the run by a typed verdict. */
  | { readonly kind: "refused"; readonly error: TidemarkError };

/** What a run came to before it was sealed. */
export interface HandlerResult {
  readonly tx: Transaction;
  readonly outcome: Exclude<HandlerOutcome, { kind: "sealed" | "refused" }> | SealableRun;
}

/** A run that may be sealed. */
export interface SealableRun {
  readonly kind: "done";
  readonly run: SealedRun;
}

/** A started run: its transaction, and its end, at once where the body is synchronous. */
export interface StartedHandler {
  readonly tx: Transaction;
  readonly result: HandlerResult["outcome"] | Promise<HandlerResult["outcome"]>;
}

/** Runs the body. Everything up to its first `await` happens in this call. */
export function startHandler(env: RunEnvironment, call: HandlerCall): StartedHandler {
  const { context } = call;
  const origin = env.openSendOrigin();
  const tx = new Transaction(env.host, {
    kind: "event-handler",
    label: call.label,
    actor: context.actor,
    nextEventId: () => origin.next(),
  });
  const principal: Principal | undefined = context.actor.user;
  const { stream, at } = call;
  const event = openEventScope({ eventId: context.eventId, stream, principal, at, tx });
  const frame = { kind: "handler", label: call.label, access: tx, event } as const;
  let returned: unknown;
  try {
    returned = runInFrame(frame, () =>
      call.node.handle(receivedPayload(call) as never, contextFor(event)),
    );
  } catch (error) {
    return { tx, result: endOf(env, call, tx, { threw: error }) };
  }
  if (!isThenable(returned)) return { tx, result: endOf(env, call, tx, { returned }) };
  const result = Promise.resolve(returned).then(
    (value) => endOf(env, call, tx, { returned: value }),
    (error: unknown) => endOf(env, call, tx, { threw: error }),
  );
  return { tx, result };
}

/** The payload as the handler gets it: parsed, and marked as its entry says. */
function receivedPayload(call: HandlerCall): unknown {
  const payload = parsePayload(call);
  markEvent(payload, call.marks);
  return payload;
}

/** In the frame: a schema's defaults and checks are code of the pattern. */
function parsePayload({ node, payload, marks, label }: HandlerCall): unknown {
  if (node.schema === undefined) return payload;
  const parsed = parsePayloadBy(node.schema, payload, marks);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
  const where = path.length === 0 ? "" : ` at ${path.join(".")}`;
  const message = `payload of ${label} does not parse${where}: ${issue?.message ?? "malformed"}`;
  throw new ProtocolError(message, { path }, { cause: parsed.error });
}

type BodyEnd = { readonly returned: unknown } | { readonly threw: unknown };

/** What the code made of a missing input or of an abort does not count: the transaction knows. */
function endOf(
  env: RunEnvironment,
  call: HandlerCall,
  tx: Transaction,
  end: BodyEnd,
): HandlerResult["outcome"] {
  tx.close("its run is over");
  const { suspension } = tx;
  if (suspension?.kind === "failed") {
    const reason = `${suspension.on} cannot be loaded`;
    return { kind: "not-run", reason, on: suspension.on, error: suspension.error };
  }
  if (suspension !== undefined) return { kind: "pending", on: suspension.on };
  if (tx.aborted !== undefined) return { kind: "errored", error: tx.aborted };
  if ("threw" in end) return { kind: "errored", error: asTidemarkError(end.threw) };
  const value = end.returned === undefined ? undefined : validateJson(end.returned);
  if (value?.ok === false) return { kind: "errored", error: value.error };
  return { kind: "done", run: sealable(env, call, tx, value?.value) };
}

function sealable(
  env: RunEnvironment,
  call: HandlerCall,
  tx: Transaction,
  value: JsonValue | undefined,
): SealedRun {
  return {
    context: call.context,
    reads: env.durableReads(tx.reads),
    writes: tx.writes,
    sends: tx.sends,
    accessChanges: tx.accessChanges.length === 0 ? undefined : tx.accessChanges,
    emits: [],
    value,
  };
}

/** Patterns throw what they like: a string, null, an error whose message getter throws. */
export function asTidemarkError(thrown: unknown): TidemarkError {
  if (isTidemarkError(thrown)) return thrown;
  return new TidemarkError(messageOf(thrown), {}, { cause: thrown });
}

function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return "the handler threw something that cannot be read";
  }
}
