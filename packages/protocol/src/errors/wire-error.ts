import {
  AuthorizationError,
  ConflictError,
  DuplicateEventError,
  LeaseError,
  OUT_OF_TURN,
  OutOfTurnError,
  PreconditionError,
  ProtocolError,
  ResolutionError,
  SpeculativeBasisError,
} from "./refusals.js";
import {
  ConnectionError,
  EventDeliveryError,
  FrameError,
  HistoryHorizonError,
  NarrowingUnsupportedError,
  StorageError,
  TimeoutError,
  UnknownPatternError,
} from "./service.js";
import { isTidemarkError, TidemarkError } from "./tidemark-error.js";
import { LimitError, PatchError, ScopeError, ValueError } from "./values.js";
import { MAX_MESSAGE_LENGTH, type WireError, WireErrorSchema } from "./wire-error-schema.js";

export { type WireError, WireErrorSchema } from "./wire-error-schema.js";

/**
 * The wire form of an error: name, code, message and structured fields, without stack or cause. What
 * may hold secrets is replaced: the message of a StorageError, which quotes SQL and file names, and
 * whatever is no error of this library.
 */
export function toWireError(error: unknown): WireError {
  if (!isTidemarkError(error)) return internal("internal", "The server failed on this request.");
  const message = publicMessage(error).slice(0, MAX_MESSAGE_LENGTH);
  if (error.code === OUT_OF_TURN) return internal(OUT_OF_TURN, message);
  const wire = WireErrorSchema.safeParse({
    name: error.name,
    code: error.code,
    message,
    details: error.details,
  });
  return wire.success ? wire.data : internal(error.code.slice(0, 64), "The request failed.");
}

/** The error behind a wire form, with the class, code and structured fields that were sent. */
export function fromWireError(wire: WireError): TidemarkError {
  switch (wire.name) {
    case "ConflictError":
      return new ConflictError(wire.message, wire.details);
    case "AuthorizationError":
      return new AuthorizationError(wire.message, wire.details);
    case "DuplicateEventError":
      return new DuplicateEventError(wire.message, wire.details);
    case "ProtocolError":
      return new ProtocolError(wire.message, wire.details);
    case "LeaseError":
      return new LeaseError(wire.message, wire.details);
    case "PreconditionError":
      return new PreconditionError(wire.message, wire.details);
    case "ResolutionError":
      return new ResolutionError(wire.message, wire.details);
    case "SpeculativeBasisError":
      return new SpeculativeBasisError(wire.message, wire.details);
    case "ValueError":
      return new ValueError(wire.message, wire.details);
    case "PatchError":
      return new PatchError(wire.message, wire.details);
    case "ScopeError":
      return new ScopeError(wire.message, wire.details);
    default:
      return serviceError(wire);
  }
}

function serviceError(wire: WireError): TidemarkError {
  switch (wire.name) {
    case "HistoryHorizonError":
      return new HistoryHorizonError(wire.message, wire.details);
    case "StorageError":
      return new StorageError(wire.message, wire.details);
    case "NarrowingUnsupportedError":
      return new NarrowingUnsupportedError(wire.message, wire.details);
    case "FrameError":
      return new FrameError(wire.message, wire.details);
    case "UnknownPatternError":
      return new UnknownPatternError(wire.message, wire.details);
    case "TimeoutError":
      return new TimeoutError(wire.message, wire.details);
    case "ConnectionError":
      return new ConnectionError(wire.message, wire.details);
    case "EventDeliveryError":
      return new EventDeliveryError(wire.message, wire.details);
    case "LimitError":
      return new LimitError(wire.message, wire.details);
    default:
      return wire.code === OUT_OF_TURN
        ? new OutOfTurnError(wire.message)
        : new RemoteError(wire.message, wire.code);
  }
}

/** An error of the other side that has no class here: its code is all that is known. */
class RemoteError extends TidemarkError {
  override readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

function publicMessage(error: TidemarkError): string {
  return error.code === "storage" ? "The store failed." : error.message;
}

function internal(code: string, message: string): WireError {
  return { name: "TidemarkError", code, message, details: {} };
}
