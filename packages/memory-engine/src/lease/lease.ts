import { LeaseError, type Clock, type HolderId, type SpaceId } from "@tidemark/protocol";
import type { LeaseRow, LeaseTable } from "../engine-types.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";

const LEASE = {
  /** Takes a free row, an expired one, or extends the holder's own. */
  acquire: statement<
    [space: string, holder: string, expiresAt: number, now: number, holderAgain: string]
  >()((db, p) =>
    db
      .insertInto("execution_lease")
      .values({ space: p(0), holder: p(1), expires_at: p(2) })
      .onConflict((oc) =>
        oc
          .column("space")
          .doUpdateSet((eb) => ({
            holder: eb.ref("excluded.holder"),
            expires_at: eb.ref("excluded.expires_at"),
          }))
          .where((eb) =>
            eb.or([
              eb("execution_lease.expires_at", "<=", p(3)),
              eb("execution_lease.holder", "=", p(4)),
            ]),
          ),
      ),
  ),
  renew: statement<[expiresAt: number, space: string, holder: string, now: number]>()((db, p) =>
    db
      .updateTable("execution_lease")
      .set({ expires_at: p(0) })
      .where("space", "=", p(1))
      .where("holder", "=", p(2))
      .where("expires_at", ">", p(3)),
  ),
  release: statement<[space: string, holder: string]>()((db, p) =>
    db.deleteFrom("execution_lease").where("space", "=", p(0)).where("holder", "=", p(1)),
  ),
  current: statement<[space: string]>()((db, p) =>
    db.selectFrom("execution_lease").select(["holder", "expires_at"]).where("space", "=", p(0)),
  ),
} as const;

/**
 * The one lease row of the space (seed 001 §2): each step is one conditional statement, none is a
 * commit. The store's clock alone judges liveness, and a row is live while `now < expires_at`.
 */
export class Lease implements LeaseTable {
  readonly #q;
  readonly #space: SpaceId;
  readonly #clock: Clock;

  constructor(driver: SqlDriver, space: SpaceId, clock: Clock) {
    this.#q = prepareLazily(driver, LEASE);
    this.#space = space;
    this.#clock = clock;
  }

  acquire(holder: HolderId, ttlMs: number): boolean {
    const now = this.#clock.now();
    return this.#q.acquire.run(this.#space, holder, now + ttlMs, now, holder).changes === 1;
  }

  renew(holder: HolderId, ttlMs: number): boolean {
    const now = this.#clock.now();
    return this.#q.renew.run(now + ttlMs, this.#space, holder, now).changes === 1;
  }

  release(holder: HolderId): boolean {
    return this.#q.release.run(this.#space, holder).changes === 1;
  }

  current(): LeaseRow | undefined {
    const row = this.#q.current.get(this.#space);
    if (row === undefined) return undefined;
    return {
      holder: row.holder as HolderId,
      expiresAt: row.expires_at,
      live: row.expires_at > this.#clock.now(),
    };
  }

  /** Inside the transaction whose writes depend on it. @throws LeaseError */
  require(holder: HolderId): void {
    const row = this.current();
    if (row?.live === true && row.holder === holder) return;
    const state =
      row === undefined
        ? "nobody holds it"
        : row.live
          ? `${row.holder} holds it`
          : "it has expired";
    throw new LeaseError(`${holder} does not hold the lease of ${this.#space}: ${state}`, {
      space: this.#space,
      holder,
    });
  }
}
