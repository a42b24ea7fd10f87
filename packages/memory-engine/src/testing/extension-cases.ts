import type { StoreExtension } from "../extension/extension.js";
import {
  at,
  codeOf,
  set,
  throws,
  valueOf,
  type EngineCase,
  type EngineHarness,
} from "./harness.js";
import type { Engine } from "../engine-types.js";

/** Writes one row per commit, and refuses a commit of the document `forbidden`. */
export function auditExtension(log: string[][] = []): StoreExtension {
  return {
    name: "audit",
    migrations: [
      {
        version: 1,
        up: (db) => db.exec("CREATE TABLE audit (seq INTEGER PRIMARY KEY, what TEXT)"),
      },
      { version: 2, up: (db) => db.exec("ALTER TABLE audit ADD COLUMN more TEXT") },
    ],
    participate: (tx, commit) => {
      const what = commit.changes.map((change) => change.id).join();
      tx.prepare("INSERT INTO audit (seq, what) VALUES (?, ?)").run(tx.seq, what);
      const rows = tx.prepare("SELECT what FROM audit ORDER BY seq").all() as { what: string }[];
      log.push(rows.map((row) => row.what));
      if (what === "forbidden") throw new Error("refused by the extension");
    },
  };
}

/** Store extensions (architecture.md). */
export const EXTENSION_CASES: readonly EngineCase[] = [
  [
    "[ME-X1] a participant writes its rows in the commit's own transaction, with the commit's seq",
    (h, { expect }) => {
      const { engine, log } = audited(h);
      set(engine, "a", 1);
      set(engine, "b", 1);
      expect(log).toEqual([["a"], ["a", "b"]]);
    },
  ],
  [
    "[ME-X2] a participant that throws refuses its commit alone, in a batch too",
    (h, { expect }) => {
      const { engine, log } = audited(h);
      expect(throws(() => set(engine, "forbidden", 1))).toBe(true);
      expect([engine.head(), valueOf(engine, "forbidden")]).toEqual([0, undefined]);
      const refused = engine.batch(() => {
        set(engine, "a", 1);
        const thrown = throws(() => set(engine, "forbidden", 1));
        set(engine, "b", 1);
        return thrown;
      });
      expect([refused, valueOf(engine, "forbidden")]).toEqual([true, undefined]);
      expect(engine.commitsSince(at(0)).map((commit) => commit.changes[0]?.id)).toEqual(["a", "b"]);
      expect(log.at(-1)).toEqual(["a", "b"]);
    },
  ],
  [
    "[ME-X3] an extension's steps run once, forward, and a newer one is refused",
    (h, { expect }) => {
      if (!h.reopens) return;
      const { engine } = audited(h);
      set(engine, "a", 1);
      const log: string[][] = [];
      set(h.open({ extensions: [auditExtension(log)] }), "b", 1);
      expect(log).toEqual([["a", "b"]]);
      const older = { ...auditExtension(), migrations: auditExtension().migrations.slice(0, 1) };
      expect(codeOf(() => h.open({ extensions: [older] }))).toBe("storage/newer");
    },
  ],
  [
    "[ME-X4] two extensions of one name are refused",
    (h, { expect }) => {
      const twice = [auditExtension(), auditExtension()];
      expect(throws(() => h.open({ extensions: twice }))).toBe(true);
    },
  ],
];

function audited(h: EngineHarness): { readonly engine: Engine; readonly log: string[][] } {
  const log: string[][] = [];
  return { engine: h.open({ extensions: [auditExtension(log)] }), log };
}
