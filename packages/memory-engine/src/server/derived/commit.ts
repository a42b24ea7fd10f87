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
 * field fault LS-01). A split wave's commits follow each other in that same transaction. Returns none
 * where the plan withdrew or had nothing to write.
 *
 * @throws LeaseError, PreconditionError, ProtocolError, AuthorizationError
 */
export function commitWave(
  engine: Engine,
  holder: HolderId,
  plan: DerivedPlan,
): readonly AcceptedCommit[] {
  return engine.batch(() => {
    const commits: AcceptedCommit[] = [];
    let rest: readonly DerivedBatch[] = [];
    engine.transact((tx) => {
      requireLease(tx, engine.space, holder);
      const planned = plan(tx);
      const [first, ...others] = Array.isArray(planned) ? planned : [planned];
      rest = others;
      write(tx, holder, first, commits);
    });
    for (const batch of rest) engine.transact((tx) => write(tx, holder, batch, commits));
    return commits;
  });
}

function write(
  tx: EngineTx,
  holder: HolderId,
  batch: DerivedBatch | undefined,
  commits: AcceptedCommit[],
): void {
  if (batch === undefined || isEmpty(batch)) return;
  checkDerivedBatch(batch);
  checkPreconditions(tx, batch.preconditions ?? []);
  writeBatch(tx, batch);
  if (isBasisAlone(batch)) {
    tx.keepBasis();
    return;
  }
  const { derivedThrough, consequenceOf } = batch;
  commits.push(tx.commit({ class: "derived", holder, derivedThrough, consequenceOf }));
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
