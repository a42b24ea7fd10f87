import { createInterface } from "node:readline";
import { seededRandom, systemClock, type HolderId, type Seq } from "@tidemark/protocol";
import { openBetterSqlite3, openEngine, type Engine } from "../../src/index.js";
import { doc, readOf, S, SPACE } from "../../src/testing/harness.js";

/*
 * A process on a store file, run by the tests of several processes: each line of its input is a
 * command, each answer a line of its output.
 */

const path = process.argv[2];
if (path === undefined) throw new Error("name the store's file");
const engine = openEngine({
  driver: openBetterSqlite3({ path }),
  space: SPACE,
  storeClock: systemClock,
  random: seededRandom(process.pid),
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Adds one to the count by read, check and write, and reads again when another process was first. */
function addOne(store: Engine): number {
  for (let conflicts = 0; ; conflicts += 1) {
    const { value, seq } = store.read(doc("count"), S);
    const accepted = store.transact((tx) => {
      if (tx.conflicts([readOf("count", seq)]).length > 0) return undefined;
      const next = Number(value ?? 0) + 1;
      tx.write({ id: doc("count"), scopeKey: S, op: { op: "set", value: next } });
      return tx.commit({ class: "authored" });
    });
    if (accepted !== undefined) return conflicts;
  }
}

/** A derived write as a server makes it: holder and expiry are read under the write's own lock. */
function commitDerived(holder: HolderId): Seq | undefined {
  return engine.transact((tx) => {
    const lease = tx.lease();
    if (lease?.live !== true || lease.holder !== holder) return undefined;
    tx.write({ id: doc("derived"), scopeKey: S, op: { op: "set", value: holder } });
    return tx.commit({ class: "derived", holder }).seq;
  });
}

function takeOver(holder: HolderId, ttlMs: number): void {
  if (engine.lease.acquire(holder, ttlMs)) {
    say("took over");
    return;
  }
  const expiresAt = engine.lease.current()?.expiresAt ?? systemClock.now();
  systemClock.timer(Math.max(1, expiresAt - systemClock.now()), () => takeOver(holder, ttlMs));
}

const COMMANDS: Readonly<Record<string, (...words: string[]) => void>> = {
  add: (times) => {
    let conflicts = 0;
    for (let n = 0; n < Number(times); n += 1) conflicts += addOne(engine);
    say(`added ${times} conflicts ${conflicts}`);
  },
  acquire: (holder, ttl) =>
    say(`acquired ${engine.lease.acquire(holder as HolderId, Number(ttl))}`),
  renew: (holder, ttl) => say(`renewed ${engine.lease.renew(holder as HolderId, Number(ttl))}`),
  takeover: (holder, ttl) => takeOver(holder as HolderId, Number(ttl)),
  derive: (holder) => say(`derived ${commitDerived(holder as HolderId) ?? "refused"}`),
  stream: () => {
    for (;;) {
      addOne(engine);
      say(`head ${engine.head()}`);
    }
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const [name = "", ...words] = line.split(" ");
  COMMANDS[name]?.(...words);
});
say("ready");
