import {
  LeaseError,
  PreconditionError,
  resolveScopeKey,
  type AcceptedCommit,
  type DerivedBatch,
  type HolderId,
  type Precondition,
  type SpaceId,
} from "@tidemark/protocol";
import type { Engine, EngineTx, ResolvedPrecondition } from "../../engine-types.js";
import type { DerivedPlan } from "../types.js";
import { checkDerivedBatch, isBasisAlone, isEmpty } from "./validate.js";

/**
 * Runs a wave's plan and writes what it returns, in one immediate transaction that has read the
 * lease row first: holder and liveness by the store's clock, and nothing in between (seed 001 §2,
 * field fault LS-01). Returns `undefined` where the plan withdrew or had nothing to write.
 *
 * @throws LeaseError, PreconditionError, ProtocolError, AuthorizationError
 */
export function commitWave(
  engine: Engine,
  holder: HolderId,
  plan: DerivedPlan,
): AcceptedCommit | undefined {
  return engine.transact((tx) => {
    requireLease(tx, engine.space, holder);
    const batch = plan(tx);
    if (batch === undefined || isEmpty(batch)) return undefined;
    checkDerivedBatch(batch);
    checkPreconditions(tx, batch.preconditions ?? []);
    writeBatch(tx, batch);
    if (isBasisAlone(batch)) {
      tx.keepBasis();
      return undefined;
    }
    return tx.commit({
      class: "derived",
      holder,
      derivedThrough: batch.derivedThrough,
      consequenceOf: batch.consequenceOf,
    });
  });
}

/** @throws LeaseError unless the holder's own lease lives, by the store's clock, in this transaction */
export function requireLease(tx: EngineTx, space: SpaceId, holder: HolderId): void {
  const lease = tx.lease();
  if (lease !== undefined && lease.live && lease.holder === holder) return;
  const why =
    lease === undefined
      ? "nobody holds the lease"
      : lease.holder === holder
        ? "its lease has expired"
        : `the lease is ${lease.live ? "" : "an expired one "}of ${lease.holder}`;
  throw new LeaseError(`${holder} may not derive in ${space}: ${why}`, {
    space,
    holder,
  });
}

function checkPreconditions(tx: EngineTx, preconditions: readonly Precondition[]): void {
  if (preconditions.length === 0) return;
  const resolved: ResolvedPrecondition[] = preconditions.map(({ scope, ...rest }) => ({
    ...rest,
    // A wave acts as nobody: a precondition of a scoped instance has no one to resolve for.
    scopeKey: resolveScopeKey(scope ?? "space", {}),
  }));
  const index = tx.failedPrecondition(resolved);
  if (index === undefined) return;
  const { kind, id } = resolved[index] as ResolvedPrecondition;
  throw new PreconditionError(`precondition ${index} (${kind}) of ${id} does not hold`, { index });
}

function writeBatch(tx: EngineTx, batch: DerivedBatch): void {
  for (const change of batch.changes) tx.write(change);
  for (const entry of batch.appends) tx.append(entry);
  for (const mark of batch.marks) tx.mark(mark);
  for (const { stream, seq } of batch.frontiers) tx.frontier(stream, seq);
  for (const update of batch.basis) tx.basis(update);
  if (batch.watermark !== undefined) tx.watermark(batch.watermark);
}
