import { marksIn, receiptFor, type CarriedEntry, type EntryEnd } from "@tidemark/events";
import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type ActionId,
  type Actor,
  type InstanceKey,
  type ScopeKey,
} from "@tidemark/protocol";
import type { SealedRun, SentEvent } from "@tidemark/runtime";
import type { Draft } from "./accumulator.js";
import type { Delivery, FiredBy, RunRead, RunWrite } from "./contribution.js";
import type { Runnable } from "../drain/places.js";

/** Identity of an end that the drain itself seals: no pattern's action has a name like it. */
const DRAIN_ACTION = "tidemark/drain" as ActionId;

/** A derivation's run as a contribution. */
export function derivationDraft(
  run: SealedRun & {
    readonly context: { readonly kind: "derivation"; readonly scopeKey: ScopeKey };
  },
  at: number,
): Draft {
  const { context } = run;
  return {
    kind: "derivation",
    action: context.action,
    instance: context.scopeKey,
    actor: context.actor,
    reads: run.reads,
    elided: run.elided ?? [],
    writes: run.writes,
    sends: carriedOf(run.sends, context.actor, at),
    effect: run.effect?.memo === "miss" ? run.effect.request : undefined,
  };
}

/** The loop's own writes and those of piece starts: no attribution (protocol.md §1). */
export function bookkeepingDraft(
  run: SealedRun & { readonly context: { readonly kind: "bookkeeping" } },
): Draft {
  return {
    kind: "bookkeeping",
    action: run.context.action,
    instance: SPACE_SCOPE_KEY,
    reads: run.reads,
    elided: run.elided ?? [],
    writes: run.writes,
    sends: [],
  };
}

/** The handling of one event, with its receipt (R33) and its mark. */
export function handlingDraft(run: SealedRun, event: Runnable, emitter: number | undefined): Draft {
  const receipt = receiptFor(event.eventId, event.stream, run.value);
  const written: readonly RunWrite[] = [
    ...run.writes,
    {
      key: instanceKey(receipt.id, SPACE_SCOPE_KEY),
      op: { op: "set", value: receipt.value },
      once: true,
    },
  ];
  const actor = actorOf(event);
  return {
    kind: "event-handler",
    action: run.context.action,
    instance: SPACE_SCOPE_KEY,
    actor,
    reads: run.reads,
    elided: run.elided ?? [],
    writes: written,
    sends: carriedOf(run.sends, actor, event.at),
    accessChanges: run.accessChanges,
    delivery: deliveryOf(event, { kind: "succeeded" }, emitter),
  };
}

/**
 * An end without domain writes: an error, a refusal, a drop. `read` is what the failed body had read,
 * so that an error derived from what is later withdrawn is withdrawn with it.
 */
export function endDraft(
  event: Runnable,
  end: EntryEnd,
  options: {
    readonly emitter?: number | undefined;
    readonly read?: Iterable<InstanceKey>;
    readonly duplicate?: Delivery["duplicate"];
  } = {},
): Draft {
  return {
    kind: "event-handler",
    action: DRAIN_ACTION,
    instance: SPACE_SCOPE_KEY,
    actor: actorOf(event),
    reads: [...(options.read ?? [])].map((key) => ({
      key,
      path: [],
      kind: "value" as const,
      seq: 0 as RunRead["seq"],
    })),
    elided: [],
    writes: [],
    sends: [],
    delivery: deliveryOf(event, end, options.emitter, options.duplicate),
  };
}

/** Who an event's run acts as: the stamped user and session (scopes.md, "Whose run it is"). */
export function actorOf(event: Runnable): Actor {
  const { user, session } = event.firedAt;
  return user === undefined ? { session } : { user, session };
}

function deliveryOf(
  event: Runnable,
  end: EntryEnd,
  emitter: number | undefined,
  duplicate?: Delivery["duplicate"],
): Delivery {
  const { stream, eventId, place } = event;
  return { stream, eventId, place, emitter, firedBy: firedByOf(event), end, duplicate };
}

function firedByOf({ firedAt }: Runnable): FiredBy | undefined {
  if (firedAt.user === undefined || firedAt.session === "server") return undefined;
  return { user: firedAt.user, session: firedAt.session };
}

/** Entries of this wave under the emitting run's actor; a cascade shares its root's instant (R29). */
function carriedOf(
  sends: readonly SentEvent[],
  actor: Actor | undefined,
  at: number,
): readonly CarriedEntry[] {
  return sends.map((sent) => ({
    stream: sent.stream.id,
    eventId: sent.eventId,
    payload: sent.payload,
    firedAt: {
      ...(actor?.user === undefined ? {} : { user: actor.user }),
      session: actor?.session ?? "server",
    },
    appendedAt: at,
    ...marksIn(sent),
  }));
}
