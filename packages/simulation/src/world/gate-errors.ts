import {
  AuthorizationError,
  ConflictError,
  ConnectionError,
  ProtocolError,
  seq,
  StorageError,
  TimeoutError,
} from "@tidemark/protocol";
import { NotSupportedYetError } from "../run/not-supported.js";
import type { FAILURE_CLASSES } from "../scenario/steps.js";

/** A class of failure, by its name in a file. */
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** The error that a failing gate throws. */
export function gateError(failure: FailureClass, proven: boolean): Error {
  return errorOf(failure, proven, `the scenario fails this gate with ${failure}`);
}

/** What a load that the scenario fails comes to. */
export function loadError(failure: FailureClass, proven: boolean): Error {
  return errorOf(failure, proven, `the scenario fails this load with ${failure}`);
}

function errorOf(failure: FailureClass, proven: boolean, message: string): Error {
  switch (failure) {
    case "io":
      return new StorageError(message, { kind: "io" });
    case "conflict":
      return new ConflictError(message, { conflicts: [] });
    case "timeout":
      return new TimeoutError(message, {});
    case "connection":
      return new ConnectionError(message);
    case "session-revoked":
      return new AuthorizationError(message, { sessionRevoked: true });
    case "authorization":
      return new AuthorizationError(
        message,
        proven ? { permanentEvidence: true, aclRevision: seq(1) } : {},
      );
    case "protocol":
      return new ProtocolError(message, {});
    case "row-label":
    case "preparation":
      throw new NotSupportedYetError(`failing with ${failure}`);
  }
}
