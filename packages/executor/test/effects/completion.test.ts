import {
  identityFromSeed,
  sessionId,
  type ActionId,
  type InstanceKey,
  type JsonValue,
  type ScopeKey,
  type Seq,
} from "@tidemark/protocol";
import { answeredValue, failedValue, pendingValue, type EffectRequest } from "@tidemark/runtime";
import { describe, expect, test } from "vitest";
import { completionBatch, completionOf, judgeCompletion } from "../../src/effects/completion.js";
import {
  InFlightBook,
  nextPhase,
  type EffectPhase,
  type EffectStep,
  type RunCarriage,
} from "../../src/effects/in-flight.js";
import { sentRequest } from "../../src/effects/requests.js";
import { EffectError, type EffectErrorKind } from "../../src/index.js";

const user = identityFromSeed(new Uint8Array(32).fill(3)).did;

function request(key: string, target = "space node:a"): EffectRequest {
  return { builtIn: "fetchData", key, target: target as InstanceKey, request: { url: "u" } };
}

const carriage: RunCarriage = {
  action: "p/data@piece:x" as ActionId,
  instance: "space" as ScopeKey,
};

describe("what is stored of a call's end", () => {
  const failure = (error: unknown) => completionOf(request("k"), carriage, { ok: false, error });

  test("[EX-O1] an answer and its key are one document", () => {
    const { value, failed } = completionOf(request("k"), carriage, { ok: true, value: [1] });
    expect(value).toEqual({ pending: false, result: [1], requestHash: "k" });
    expect(failed).toBe(false);
  });

  test("[EX-O2] a named failure is stored with its kind, status and reason", () => {
    const error = new EffectError("no", { kind: "provider", status: 503, reason: "status" });
    expect(failure(error)).toMatchObject({
      failed: true,
      value: failedValue("k", { kind: "provider", message: "no", status: 503, reason: "status" }),
    });
    expect(failure(error).unexpected).toBeUndefined();
  });

  test("[EX-O13] what nobody named is stored without a word of its own, and told", () => {
    const odd = [
      "text",
      undefined,
      new Error("secret"),
      new EffectError("x", { kind: "odd" as EffectErrorKind }),
    ];
    for (const error of odd) {
      const { value, failed, ...told } = failure(error);
      expect(value).toEqual(
        failedValue("k", {
          kind: "unknown",
          message: "the effect failed, and the server's log says how",
        }),
      );
      expect(failed).toBe(true);
      expect(told).toHaveProperty("unexpected", error);
    }
  });

  test("[EX-O13] words are bounded and storable", () => {
    const cut = "x".repeat(999) + "\u{1f600}";
    const { value } = failure(new EffectError(cut, { kind: "network" }));
    expect(value).toEqual(
      failedValue("k", { kind: "network", message: `${"x".repeat(999)}\u{fffd}` }),
    );
  });

  test("[EX-O14] an answer that cannot be stored is an error", () => {
    const kindOf = (value: unknown) =>
      completionOf(request("k"), carriage, { ok: true, value: value as JsonValue });
    expect(kindOf({ at: new Date(0) })).toMatchObject({
      failed: true,
      value: { error: { kind: "invalid" } },
    });
    expect(kindOf(undefined)).toMatchObject({ value: { error: { kind: "invalid" } } });
    expect(kindOf("x".repeat(5_000_000))).toMatchObject({
      value: { error: { kind: "too-large" } },
    });
    let deep: JsonValue = 1;
    for (let at = 0; at < 64; at += 1) deep = [deep];
    expect(kindOf(deep)).toMatchObject({ value: { error: { kind: "too-large" } } });
  });
});

describe("acceptance", () => {
  test("[EX-O4] an answer lands where its request is the one selected and open", () => {
    expect(judgeCompletion("k", pendingValue("k"))).toBe("lands");
    expect(judgeCompletion("k", pendingValue("other"))).toBe("stale");
    expect(judgeCompletion("k", undefined)).toBe("stale");
    expect(judgeCompletion("k", "scribble")).toBe("stale");
    expect(judgeCompletion("k", { requestHash: "k" })).toBe("lands");
  });

  test("[EX-O4] an answer that stands is not replaced", () => {
    expect(judgeCompletion("k", answeredValue("k", 1))).toBe("answered");
    expect(judgeCompletion("k", failedValue("k", { kind: "network", message: "" }))).toBe(
      "answered",
    );
  });

  test("[EX-O15] the commit bears the identity of the run that asked, and nothing of a wave", () => {
    const actor = { user, session: sessionId("s1") };
    const completion = completionOf(
      request("k", `user:${encodeURIComponent(user)} node:a`),
      { ...carriage, actor },
      { ok: true, value: 1 },
    );
    expect(completionBatch(completion, 4 as Seq)).toEqual({
      derivedThrough: 4,
      consequenceOf: [],
      changes: [
        {
          id: "node:a",
          scopeKey: `user:${encodeURIComponent(user)}`,
          op: { op: "set", value: answeredValue("k", 1) },
          attribution: actor,
        },
      ],
      appends: [],
      marks: [],
      frontiers: [],
      basis: [],
    });
    const nobody = completionOf(request("k"), carriage, { ok: true, value: 1 });
    expect(completionBatch(nobody, 4 as Seq).changes[0]).not.toHaveProperty("attribution");
  });
});

describe("what is in flight", () => {
  test("[EX-O3] one per key and target; a second asking attaches until the first is retired", () => {
    const book = new InFlightBook();
    const first = book.admit(request("k"), carriage);
    const again = book.admit(request("k"), { ...carriage, action: "other" as ActionId });
    const elsewhere = book.admit(request("k", "space node:b"), carriage);
    expect([first.fresh, again.fresh, elsewhere.fresh]).toEqual([true, false, true]);
    expect(again.effect).toBe(first.effect);
    expect(first.effect.attachments.map(({ action }) => action)).toEqual([
      carriage.action,
      "other",
    ]);

    book.retire(first.effect, "refused");
    expect(book.size).toBe(1);
    expect(book.admit(request("k"), carriage).fresh).toBe(true);
    book.retire(first.effect, "dropped");
    expect(book.size).toBe(2);
  });

  test("[EX-O3] each phase has its own ways on", () => {
    const phases: readonly EffectPhase[] = ["held", "leaving", "out", "answered", "gone"];
    const steps: readonly EffectStep[] = [
      "let-go",
      "refused",
      "dispatched",
      "ended",
      "landed",
      "dropped",
    ];
    const table = phases.map((phase) =>
      steps.map((step) => {
        try {
          return nextPhase(phase, step);
        } catch {
          return "-";
        }
      }),
    );
    expect(table).toEqual([
      ["leaving", "gone", "-", "-", "-", "gone"],
      ["-", "gone", "out", "-", "-", "gone"],
      ["-", "-", "-", "answered", "-", "gone"],
      ["-", "-", "-", "-", "gone", "gone"],
      ["-", "gone", "-", "gone", "gone", "gone"],
    ]);
  });

  test("[EX-O12] what tells two askings apart is part of the key and is not sent", () => {
    const asked = { ...request("k"), request: { url: "u", again: 7 } };
    expect(sentRequest(asked)).toEqual({ url: "u" });
  });
});
