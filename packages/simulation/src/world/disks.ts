import { openBetterSqlite3, type SqlDriver, type Stmt } from "@tidemark/memory-engine";
import { StorageError } from "@tidemark/protocol";

/**
 * Where a disk fails: as a store opens, a transaction begins, a row or a lease is written, a commit ends; `after`: it
 * is durable, and whoever made it is told that it failed.
 */
export const DISK_PLACES = [
  "open",
  "begin",
  "row",
  "lease",
  "wave",
  "input",
  "after-wave",
  "after-input",
] as const;
/** How it does: there is no room, it cannot be written to, somebody else has it for too long. */
export const DISK_FAILURES = ["full", "io", "busy"] as const;

export type DiskPlace = (typeof DISK_PLACES)[number];
export type DiskFailure = (typeof DISK_FAILURES)[number];

/** Told of each time that a disk fails somebody or keeps him waiting. */
export type DiskWatcher = (met: DiskPlace | "slow") => void;

/** What {@link WorldDisks} are made of. */
export interface WorldDisksOptions {
  /** The file of a space's store. */
  readonly fileOf: (space: string) => string;
  readonly spend: (ms: number) => void;
  readonly watch: DiskWatcher | undefined;
}

interface Fault {
  readonly where: DiskPlace;
  readonly failure: DiskFailure;
  remaining: number;
}

interface Disk {
  faults: Fault[];
  /** What each write takes, ms. */
  slow: number;
}

const CODES = { full: "SQLITE_FULL", io: "SQLITE_IOERR_WRITE", busy: "SQLITE_BUSY" } as const;
const WRITES = /^\s*(?:insert|update|delete|replace)\b/iu;

/**
 * The disks under the stores of a world, one a file, whichever process writes: they fail and are slow where the plan
 * says so, below everything that is the store's own, and as SQLite tells it.
 */
export class WorldDisks {
  readonly #disks = new Map<string, Disk>();
  readonly #options: WorldDisksOptions;

  constructor(options: WorldDisksOptions) {
    this.#options = options;
  }

  /** The next `times` at that place fail. */
  fail(space: string, where: DiskPlace, failure: DiskFailure, times: number): void {
    this.#disk(space).faults.push({ where, failure, remaining: times });
  }

  /** Every write takes so long from now on. */
  slow(space: string, ms: number): void {
    this.#disk(space).slow = ms;
  }

  /** Nothing fails any more, and nothing takes long. */
  mend(space: string): void {
    this.#disks.delete(this.#options.fileOf(space));
  }

  /** Opens a store's file for a server process. */
  readonly open = (file: string): SqlDriver => {
    this.#meet(file, "open", `open ${file}`);
    return onDisk(openBetterSqlite3({ path: file }), (where, sql) => this.#meet(file, where, sql));
  };

  #disk(space: string): Disk {
    const file = this.#options.fileOf(space);
    const known = this.#disks.get(file) ?? { faults: [], slow: 0 };
    this.#disks.set(file, known);
    return known;
  }

  /** @throws StorageError where the disk fails here */
  #meet(file: string, where: DiskPlace, sql: string): void {
    const disk = this.#disks.get(file);
    if (disk === undefined) return;
    // A lease step has looked at the clock before it waits, and judges by that: only a transaction looks after it.
    if (disk.slow > 0 && where === "begin") {
      this.#options.watch?.("slow");
      this.#options.spend(disk.slow);
    }
    const fault = disk.faults.find((each) => each.where === where);
    if (fault === undefined) return;
    fault.remaining -= 1;
    if (fault.remaining <= 0) disk.faults.splice(disk.faults.indexOf(fault), 1);
    this.#options.watch?.(where);
    throw failureOf(fault.failure, sql);
  }
}

/** As the driver says it of SQLite. */
function failureOf(failure: DiskFailure, sql: string): StorageError {
  const code = CODES[failure];
  const kind = failure === "full" ? "full" : "io";
  const details = { kind, sql, code, busy: failure === "busy" } as const;
  return new StorageError(`SQLite refused a statement: ${code} (in: ${sql})`, details);
}

type Meet = (where: DiskPlace, sql: string) => void;

/** The driver with its disk under it. */
function onDisk(driver: SqlDriver, meet: Meet): SqlDriver {
  // What the transaction under way is: who asks for the lease row in it writes a wave.
  let open: "wave" | "input" | undefined;
  let wrote = false;
  const prepare = (sql: string): Stmt => {
    const stmt = driver.prepare(sql);
    const writes = WRITES.test(sql);
    const leases = sql.includes("execution_lease");
    return {
      run: (...params) => {
        if (writes && open === undefined) meet("lease", sql);
        else if (writes) meet("row", sql);
        if (writes) wrote = true;
        return stmt.run(...params);
      },
      get: (...params) => {
        if (leases && open !== undefined) open = "wave";
        return stmt.get(...params);
      },
      all: (...params) => stmt.all(...params),
    };
  };
  const transaction: SqlDriver["transaction"] = (fn, mode) => {
    if (mode !== "immediate") return driver.transaction(fn, mode);
    meet("begin", `BEGIN ${mode}`);
    open = "input";
    wrote = false;
    try {
      const result = driver.transaction(() => {
        const made = fn();
        meet(open ?? "input", "COMMIT");
        return made;
      }, mode);
      if (wrote) meet(`after-${open}`, "COMMIT");
      return result;
    } finally {
      open = undefined;
    }
  };
  return new Proxy(driver, {
    get(target, name) {
      if (name === "prepare") return prepare;
      if (name === "transaction") return transaction;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
