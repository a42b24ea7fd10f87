import { marksProblem } from "@tidemark/events";
import {
  ACL_DOC,
  AuthorizationError,
  isScopeKey,
  ProtocolError,
  WATERMARK_DOC,
  type AttributedChange,
  type DerivedBatch,
  type NewEntry,
} from "@tidemark/protocol";

/**
 * Refuses what no derived commit may hold, whatever the holder's code believes: an access list
 * (seed 001 §3d), an unaddressed write (ADM-21), an entry without an inherited actor or with a
 * client's count (ADM-17), a stream or the watermark written as a document.
 *
 * @throws ProtocolError, AuthorizationError
 */
export function checkDerivedBatch(batch: DerivedBatch): void {
  for (const change of batch.changes) checkChange(change);
  for (const entry of batch.appends) checkEntry(entry);
  const { watermark, derivedThrough } = batch;
  if (watermark !== undefined && watermark > derivedThrough) {
    throw new ProtocolError(
      `the watermark ${watermark} claims more than the commit derived through (${derivedThrough})`,
      {},
    );
  }
}

/** Whether there is nothing to write at all. */
export function isEmpty(batch: DerivedBatch): boolean {
  const { changes, appends, marks, frontiers, basis, watermark } = batch;
  const lists = [changes, appends, marks, frontiers, basis];
  return watermark === undefined && lists.every((list) => list.length === 0);
}

/** Whether all there is to write are basis rows, which are no commit (R8, R13). */
export function isBasisAlone(batch: DerivedBatch): boolean {
  return isEmpty({ ...batch, basis: [] });
}

function checkChange(change: AttributedChange): void {
  const { id, op } = change;
  if (id === ACL_DOC) {
    throw new AuthorizationError(`a derived commit may not ${op.op} the access list ${id}`, {
      permanentEvidence: true,
    });
  }
  if (id === WATERMARK_DOC || id.startsWith("stream:")) {
    throw new ProtocolError(
      `a derived commit writes ${id} by its own fields, not as a document`,
      {},
    );
  }
  // The types say so; a batch built from data may still lack the address.
  if (!isScopeKey(change.scopeKey)) {
    throw new ProtocolError(
      `the derived ${op.op} of ${id} names no instance; a scoped write is never defaulted`,
      {},
    );
  }
}

function checkEntry(entry: NewEntry): void {
  const firedAt: NewEntry["firedAt"] | undefined = entry.firedAt;
  if (firedAt?.session === undefined) {
    throw entryError(entry, "inherits no firedAt");
  }
  if (firedAt.clientSeq !== undefined) {
    throw entryError(entry, "carries a clientSeq, which only a client mints");
  }
  if ("seq" in entry || "index" in entry) {
    throw entryError(entry, "carries a place, which the commit gives");
  }
  const forged = marksProblem(entry);
  if (forged !== undefined) throw entryError(entry, forged);
  if (!entry.stream.startsWith("stream:")) throw entryError(entry, "is for no stream");
}

function entryError(entry: NewEntry, what: string): ProtocolError {
  return new ProtocolError(`the emitted event ${entry.eventId} on ${entry.stream} ${what}`, {});
}
