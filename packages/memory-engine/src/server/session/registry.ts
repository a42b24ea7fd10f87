import type { Principal, SessionId } from "@tidemark/protocol";
import type { SessionRef } from "../types.js";

/** Who a session is. The pair is the identity: two principals may mint the same session id. */
export interface SessionIdentity {
  readonly principal: Principal;
  readonly sessionId: SessionId;
  readonly ref: SessionRef;
}

/** What a connection must offer to be taken out of the way by a newer one. */
export interface SessionHolder {
  /** A newer open took the session (R27): say so and close. */
  supersede(): void;
  /** The same open came back on another socket: close without a word. */
  replace(): void;
  /** The session was ended elsewhere. */
  end(reason: string): void;
}

interface SessionRecord {
  /** As the newest open gave it: each open has an object of its own. */
  readonly identity: SessionIdentity;
  openNonce: string;
  holder: SessionHolder | undefined;
  /** Monotonic instant since which no connection holds the session. */
  absentSince: number;
}

const SWEEPS_PER_ABSENCE = 30;

/** The name of a session in maps. Neither part can hold a space. */
export function sessionRef(principal: Principal, sessionId: SessionId): SessionRef {
  return `${principal} ${sessionId}`;
}

/**
 * The sessions of one server: at most one live connection each. Sessions of no connection are kept
 * until they were absent for too long (R36); nothing of theirs is queued here, since what a
 * connection was sent dies with it (field fault SY-07).
 */
export class SessionRegistry {
  readonly #records = new Map<SessionRef, SessionRecord>();
  readonly #absenceMs: number;
  #nextSweep = 0;

  constructor(absenceMs: number) {
    this.#absenceMs = absenceMs;
  }

  get size(): number {
    return this.#records.size;
  }

  get live(): number {
    let count = 0;
    for (const record of this.#records.values()) if (record.holder !== undefined) count += 1;
    return count;
  }

  /**
   * Gives the session to a connection; the one that held it is superseded or replaced (R27). Returns
   * whether this open of the session was known: a reconnect.
   */
  open(identity: SessionIdentity, openNonce: string, holder: SessionHolder): boolean {
    const standing = this.#records.get(identity.ref);
    const previous = standing?.holder;
    const sameOpen = standing?.openNonce === openNonce;
    // Re-inserted, so that the map stays ordered by when a session was last opened.
    this.#records.delete(identity.ref);
    this.#records.set(identity.ref, { identity, openNonce, holder, absentSince: 0 });
    if (sameOpen) previous?.replace();
    else previous?.supersede();
    return sameOpen;
  }

  /** Whether the session goes on and nobody has opened it since, be its connection still there or not. */
  isNewest(identity: SessionIdentity): boolean {
    return this.#records.get(identity.ref)?.identity === identity;
  }

  /** The connection is gone. A connection that no longer holds the session changes nothing. */
  release(ref: SessionRef, holder: SessionHolder, now: number): void {
    const record = this.#records.get(ref);
    if (record === undefined || record.holder !== holder) return;
    record.holder = undefined;
    record.absentSince = now;
  }

  /** Logout: the session is over, on whichever connection it lives. */
  end(ref: SessionRef, by: SessionHolder | undefined): void {
    const record = this.#records.get(ref);
    if (record === undefined) return;
    this.#records.delete(ref);
    if (record.holder !== undefined && record.holder !== by) record.holder.end("logged out");
  }

  /**
   * Ends every session that was absent for too long. Called as sessions open, and cheap between two
   * sweeps: an absent session holds nothing but its record, which needs no timer.
   */
  sweep(now: number): number {
    if (now < this.#nextSweep) return 0;
    this.#nextSweep = now + this.#absenceMs / SWEEPS_PER_ABSENCE;
    const due = [...this.#records.values()].filter(
      (record) => record.holder === undefined && now - record.absentSince >= this.#absenceMs,
    );
    for (const record of due) this.#records.delete(record.identity.ref);
    return due.length;
  }
}
