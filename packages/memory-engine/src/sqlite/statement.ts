import {
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
  type RawBuilder,
} from "kysely";
import type { SqlDriver, SqlValue, Stmt } from "./driver.js";
import type { Tables } from "./tables.js";

/** Builds SQL text and runs nothing: the driver is ours. */
const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** SQL text with the types of its positional parameters and of its rows. */
export interface Statement<P extends readonly SqlValue[], R> {
  readonly sql: string;
  /** Types only: never set. */
  readonly types?: { readonly params: P; readonly row: R };
}

/** Stands for parameter `index` while the text is built. */
class Placeholder {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

type ParameterOf<P extends readonly SqlValue[]> = <const I extends number>(index: I) => P[I];

/**
 * Compiles a statement once, when its module loads. `p(i)` stands for the i-th parameter; each is
 * used once and in order, so that a call binds its arguments as they come. Throws otherwise.
 */
export function statement<P extends readonly SqlValue[]>(): <R>(
  build: (db: Kysely<Tables>, p: ParameterOf<P>) => Compilable<R>,
) => Statement<P, R> {
  return (build) => {
    const p: ParameterOf<P> = (index) => new Placeholder(index) as never;
    const compiled = build(builder, p).compile();
    compiled.parameters.forEach((parameter, position) => {
      if (!(parameter instanceof Placeholder) || parameter.index !== position) {
        throw new Error(`parameter ${position} is out of order or a literal in: ${compiled.sql}`);
      }
    });
    return { sql: compiled.sql };
  };
}

/**
 * A LIMIT. By the parameter alone SQLite would choose its plan, and so plan anew whenever it is bound: that costs
 * more than most reads here.
 */
export function rowsUpTo(limit: number): RawBuilder<number> {
  return sql<number>`${limit} + 0`;
}

/** A statement on one connection, typed. */
export interface Prepared<P extends readonly SqlValue[], R> {
  run(...params: P): { readonly changes: number };
  get(...params: P): R | undefined;
  all(...params: P): readonly R[];
}

type PreparedBag<S> = {
  readonly [K in keyof S]: S[K] extends Statement<infer P, infer R> ? Prepared<P, R> : never;
};

/** What was prepared on each connection, by the group of texts. */
const bags = new WeakMap<SqlDriver, Map<object, object>>();

/**
 * The statements of `texts` on a connection: each is prepared at its first use and kept, so an idle
 * store holds only what it used. The same texts on the same connection are prepared once.
 */
export function prepareLazily<S extends Record<string, Statement<readonly SqlValue[], unknown>>>(
  driver: SqlDriver,
  texts: S,
): PreparedBag<S> {
  const known = bags.get(driver) ?? new Map<object, object>();
  bags.set(driver, known);
  const made = known.get(texts);
  if (made !== undefined) return made as PreparedBag<S>;
  const bag = {};
  known.set(texts, bag);
  for (const [name, { sql }] of Object.entries(texts)) {
    const get = (): Stmt => {
      const value = driver.prepare(sql);
      Object.defineProperty(bag, name, { value });
      return value;
    };
    Object.defineProperty(bag, name, { get, configurable: true });
  }
  return bag as PreparedBag<S>;
}
