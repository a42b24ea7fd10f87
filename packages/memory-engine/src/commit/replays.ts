import { sql } from "kysely";
import type { Principal, Seq, SessionId } from "@tidemark/protocol";
import type { ReplayKey, ReplayVerdict } from "../engine-types.js";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily, statement } from "../sqlite/statement.js";

const REPLAY = {
  findOpen: statement<[session: string, nonce: string, principal: string]>()((db, p) =>
    db
      .selectFrom("session_open")
      .select("no")
      .where("session", "=", p(0))
      .where("nonce", "=", p(1))
      .where("principal", "=", p(2)),
  ),
  insertOpen: statement<[principal: string, session: string, nonce: string]>()((db, p) =>
    db.insertInto("session_open").values({ principal: p(0), session: p(1), nonce: p(2) }),
  ),
  newest: statement<[open: number]>()((db, p) =>
    db
      .selectFrom("replay")
      .select("local_seq")
      .where("open", "=", p(0))
      .orderBy("local_seq", "desc")
      .limit(sql.lit(1)),
  ),
  find: statement<[open: number, localSeq: number]>()((db, p) =>
    db
      .selectFrom("replay")
      .select(["seq", "entry_index", "hash"])
      .where("open", "=", p(0))
      .where("local_seq", "=", p(1)),
  ),
  insert: statement<
    [open: number, localSeq: number, seq: number, index: number | null, hash: string]
  >()((db, p) =>
    db
      .insertInto("replay")
      .values({ open: p(0), local_seq: p(1), seq: p(2), entry_index: p(3), hash: p(4) })
      .onConflict((known) =>
        known.columns(["open", "local_seq"]).doUpdateSet((eb) => ({
          seq: eb.ref("excluded.seq"),
          entry_index: eb.ref("excluded.entry_index"),
          hash: eb.ref("excluded.hash"),
        })),
      ),
  ),
} as const;

const MAX_REMEMBERED_OPENS = 4_096;

/** Verdicts of accepted requests, so that a resend is answered and not applied again (R27, ADM-07). */
export class Replays {
  readonly #q;
  readonly #opens = new Map<string, Open>();
  /** Mostly the open asked for last is asked for. */
  #last: (OpenKey & { readonly open: Open }) | undefined;

  constructor(driver: SqlDriver) {
    this.#q = prepareLazily(driver, REPLAY);
  }

  forget(): void {
    this.#opens.clear();
    this.#last = undefined;
  }

  find(key: ReplayKey): ReplayVerdict | undefined {
    const open = this.#findOpen(key);
    // Most requests are new: their number is above all that were accepted.
    if (open === undefined || key.localSeq > open.newest) return undefined;
    const row = this.#q.find.get(open.no, key.localSeq);
    if (row === undefined) return undefined;
    return {
      seq: row.seq as Seq,
      hash: row.hash,
      ...(row.entry_index === null ? {} : { index: row.entry_index }),
    };
  }

  insert(key: ReplayKey, verdict: ReplayVerdict): void {
    const open = this.#internOpen(key);
    this.#q.insert.run(open.no, key.localSeq, verdict.seq, verdict.index ?? null, verdict.hash);
    open.newest = Math.max(open.newest, key.localSeq);
  }

  #findOpen(key: OpenKey): Open | undefined {
    const { principal, session, openNonce } = key;
    const last = this.#last;
    if (last?.openNonce === openNonce && last.session === session && last.principal === principal) {
      return last.open;
    }
    const open = this.#knownOpen(key);
    if (open !== undefined) this.#last = { principal, session, openNonce, open };
    return open;
  }

  #knownOpen({ principal, session, openNonce }: OpenKey): Open | undefined {
    const key = `${principal}\n${session}\n${openNonce}`;
    const known = this.#opens.get(key);
    if (known !== undefined) return known;
    const no = this.#q.findOpen.get(session, openNonce, principal)?.no;
    if (no === undefined) return undefined;
    if (this.#opens.size >= MAX_REMEMBERED_OPENS) this.#opens.clear();
    const open = { no, newest: this.#q.newest.get(no)?.local_seq ?? 0 };
    this.#opens.set(key, open);
    return open;
  }

  #internOpen(key: OpenKey): Open {
    const known = this.#findOpen(key);
    if (known !== undefined) return known;
    this.#q.insertOpen.run(key.principal, key.session, key.openNonce);
    const created = this.#findOpen(key);
    if (created === undefined) throw new Error(`open ${key.openNonce} was not stored`);
    return created;
  }
}

/** One open of a session, and the highest number that was accepted in it. */
interface Open {
  readonly no: number;
  newest: number;
}

interface OpenKey {
  readonly principal: Principal;
  readonly session: SessionId;
  readonly openNonce: string;
}
