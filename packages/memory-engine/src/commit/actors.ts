import type { HolderId, Principal, SessionId } from "@tidemark/protocol";
import type { SqlDriver } from "../sqlite/driver.js";
import { prepareLazily } from "../sqlite/statement.js";
import { CORE } from "../sqlite/statements.js";

/** Who a row names: stored once, rows carry its number. */
export interface ActorRef {
  readonly principal?: Principal | undefined;
  readonly session?: SessionId | "server" | undefined;
  readonly holder?: HolderId | undefined;
}

/** Past this many, the memory is dropped and filled again. */
const MAX_REMEMBERED = 4_096;

const NOBODY: ActorRef = {};

interface Interned {
  readonly principal: string;
  readonly session: string;
  readonly holder: string;
  readonly no: number;
}

/** Interns actors. */
export class Actors {
  readonly #q;
  readonly #byNo = new Map<number, ActorRef>();
  readonly #noByKey = new Map<string, number>();
  /** Mostly the one asked for last is asked for: whoever commits also fires, and acts in a row. */
  #last: Interned | undefined;

  constructor(driver: SqlDriver) {
    this.#q = prepareLazily(driver, CORE);
  }

  forget(): void {
    this.#byNo.clear();
    this.#noByKey.clear();
    this.#last = undefined;
  }

  /** The number of an actor, stored if it is new: inside the commit's transaction. */
  intern(actor: ActorRef): number | null {
    const { principal = "", session = "", holder = "" } = actor;
    if (principal === "" && session === "" && holder === "") return null;
    const last = this.#last;
    if (last?.principal === principal && last.session === session && last.holder === holder) {
      return last.no;
    }
    const no = this.#numberOf(principal, session, holder);
    this.#last = { principal, session, holder, no };
    return no;
  }

  #numberOf(principal: string, session: string, holder: string): number {
    const key = `${principal}\n${session}\n${holder}`;
    const known = this.#noByKey.get(key);
    if (known !== undefined) return known;
    let row = this.#q.findActor.get(principal, session, holder);
    if (row === undefined) {
      this.#q.insertActor.run(principal, session, holder);
      row = this.#q.findActor.get(principal, session, holder);
    }
    const no = row?.no ?? 0;
    if (this.#noByKey.size >= MAX_REMEMBERED) this.forget();
    this.#noByKey.set(key, no);
    return no;
  }

  byNo(no: number | null): ActorRef {
    if (no === null) return NOBODY;
    const known = this.#byNo.get(no);
    if (known !== undefined) return known;
    const row = this.#q.actorByNo.get(no);
    const actor: ActorRef = {
      ...(row?.principal ? { principal: row.principal as Principal } : {}),
      ...(row?.session ? { session: row.session as SessionId } : {}),
      ...(row?.holder ? { holder: row.holder as HolderId } : {}),
    };
    if (this.#byNo.size >= MAX_REMEMBERED) this.forget();
    this.#byNo.set(no, actor);
    return actor;
  }
}
