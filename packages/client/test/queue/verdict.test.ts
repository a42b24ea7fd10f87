import {
  AuthorizationError,
  ConnectionError,
  DuplicateEventError,
  fromWireError,
  LimitError,
  OutOfTurnError,
  ProtocolError,
  StorageError,
  toWireError,
} from "@tidemark/protocol";
import type { EventId, Seq, TidemarkError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { readRefusal } from "../../src/queue/verdict.js";

/** As it reads after a trip over the wire. */
const over = (error: TidemarkError): TidemarkError => fromWireError(toWireError(error));

test("[CL-Q10] a duplicate refusal is a delivery, at the seq of the entry that stands", () => {
  const error = new DuplicateEventError("again", { eventId: "e1" as EventId, seq: 7 as Seq });
  expect(readRefusal(over(error))).toEqual({ kind: "delivered", seq: 7 });
});

test("[CL-Q11] only a denial with permanent evidence and an ACL revision is final", () => {
  const verdict = (details: object): unknown => {
    const read = readRefusal(over(new AuthorizationError("no", details)));
    return read.kind === "later" ? read.retry : read.kind;
  };
  expect(verdict({ permanentEvidence: true, aclRevision: 3 })).toBe("final");
  expect(verdict({ permanentEvidence: true })).toBe("session");
  expect(verdict({ aclRevision: 3 })).toBe("session");
  expect(verdict({ permanentEvidence: true, aclRevision: 3, retriable: true })).toBe("session");
  expect(verdict({})).toBe("session");
});

test("[CL-Q12] malformed or oversized input is final, a failing store or an unknown error is not", () => {
  const kind = (error: TidemarkError): string => readRefusal(over(error)).kind;
  expect(kind(new ProtocolError("bad"))).toBe("final");
  expect(kind(new LimitError("big", { limit: "message bytes", max: 1 }))).toBe("final");
  expect(kind(new StorageError("disk", { kind: "io" }))).toBe("later");
  expect(kind(new ConnectionError("gone"))).toBe("ambiguous");
  const strange = {
    name: "TidemarkError",
    code: "of-tomorrow",
    message: "?",
    details: {},
  } as const;
  expect(readRefusal(fromWireError(strange)).kind).toBe("later");
});

test("[CL-Q13] a refusal out of turn waits for its turn, whatever else the server may have meant", () => {
  const read = readRefusal(over(new OutOfTurnError("e2 waits for e1")));
  expect(read).toMatchObject({ kind: "later", retry: "turn", error: { code: "out-of-turn" } });
});
