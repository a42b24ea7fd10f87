import type { Actor, Clock, IdSource, Identity, LimitError, Random } from "@tidemark/protocol";
import type { PatternRegistry } from "@tidemark/runtime";
import type { ClientPolicy } from "../options.js";
import type { Session } from "../session/session.js";

/** What every part of a client shares. */
export interface ClientContext {
  readonly session: Session;
  readonly identity: Identity;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly policy: ClientPolicy;
  readonly registry: PatternRegistry;
  /** Whom this client acts as now. */
  actor(): Actor;
  /** The next number of this session's own appends. */
  nextClientSeq(): number;
  /** Why what would be sent is larger than the server reads, if it is (field fault SY-10). */
  sizeError(message: unknown): LimitError | undefined;
  /** Errors that nobody waits for: of subscribers, of edits whose promise nobody holds. */
  report(error: unknown): void;
}
