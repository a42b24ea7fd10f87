import { jsonEqual, type JsonValue, type Link } from "@tidemark/protocol";
import type { Expression } from "../scenario/expression.js";

/** What an expression can ask of the run it is evaluated in. */
export interface EvaluationScope {
  node(name: string, path: readonly (string | number)[]): unknown;
  read(address: string): unknown;
  payload(path: readonly (string | number)[]): unknown;
  argument(path: readonly (string | number)[]): unknown;
  item(path: readonly (string | number)[]): unknown;
  principal(): string | undefined;
  eventKey(): string;
  now(): number;
  random(): number;
  /** Spends virtual time where the run is a server's. */
  busy(ms: number): void;
  /** How many times the node's body has run, this run counted. */
  ran(): number;
}

type Path = readonly (string | number)[];
type List = readonly Expression[];
type Evaluate = (expression: Expression) => JsonValue;
type Head = (rest: List, evaluate: Evaluate, scope: EvaluationScope) => JsonValue;

/** Evaluates an expression. Only the branch that is taken is evaluated, so only its reads are made. */
export function evaluate(expression: Expression, scope: EvaluationScope): JsonValue {
  if (!Array.isArray(expression)) return expression as JsonValue;
  const [head, ...rest] = expression as unknown as readonly [string, ...Expression[]];
  const run = HEADS[head];
  if (!run) throw new Error(`unknown expression ${head}`);
  return run(rest, (inner) => evaluate(inner, scope), scope);
}

const orNull = (value: unknown): JsonValue => (value === undefined ? null : (value as JsonValue));
const pathOf = (rest: List): Path => rest as Path;

function numbers(rest: List, run: Evaluate): number[] {
  return rest.map((each) => {
    const value = run(each);
    if (typeof value !== "number") throw new TypeError(`${JSON.stringify(value)} is no number`);
    return value;
  });
}

function fold(combine: (left: number, right: number) => number): Head {
  return (rest, run) => {
    const [first = 0, ...others] = numbers(rest, run);
    return others.reduce(combine, first);
  };
}

function compare(holds: (left: number | string, right: number | string) => boolean): Head {
  return (rest, run) => {
    const [left, right] = rest.map(run);
    return holds(left as number | string, right as number | string);
  };
}

const HEADS: Readonly<Record<string, Head>> = {
  quote: ([value]) => orNull(value),
  get: ([name, ...path], _run, scope) => orNull(scope.node(name as string, pathOf(path))),
  read: ([address], _run, scope) => orNull(scope.read(address as string)),
  payload: (path, _run, scope) => orNull(scope.payload(pathOf(path))),
  arg: (path, _run, scope) => orNull(scope.argument(pathOf(path))),
  item: (path, _run, scope) => orNull(scope.item(pathOf(path))),
  "+": fold((left, right) => left + right),
  "-": fold((left, right) => left - right),
  "*": fold((left, right) => left * right),
  "/": fold((left, right) => left / right),
  concat: (rest, run) => rest.map((each) => String(run(each))).join(""),
  eq: ([left, right], run) => jsonEqual(run(orNull(left)), run(orNull(right))),
  lt: compare((left, right) => left < right),
  gt: compare((left, right) => left > right),
  and: (rest, run) => rest.every((each) => Boolean(run(each))),
  or: (rest, run) => rest.some((each) => Boolean(run(each))),
  not: ([value], run) => !run(orNull(value)),
  if: ([condition, yes, no], run) => run(orNull(run(orNull(condition)) ? yes : no)),
  len: ([value], run) => lengthOf(run(orNull(value))),
  sum: ([list], run) => sumOf(run(orNull(list))),
  list: (rest, run) => rest.map(run),
  obj: (rest, run) => objectOf(rest, run),
  principal: (_rest, _run, scope) => orNull(scope.principal()),
  eventKey: (_rest, _run, scope) => scope.eventKey(),
  now: (_rest, _run, scope) => scope.now(),
  random: (_rest, _run, scope) => scope.random(),
  throw: ([message], run) => {
    throw new Error(String(run(orNull(message))));
  },
  busy: ([ms, value], run, scope) => {
    scope.busy(Number(run(orNull(ms))));
    return run(orNull(value));
  },
  ran: (_rest, _run, scope) => scope.ran(),
};

function lengthOf(value: JsonValue): number {
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  return value !== null && typeof value === "object" ? Object.keys(value).length : 0;
}

function sumOf(value: JsonValue): number {
  if (!Array.isArray(value)) throw new TypeError("sum takes a list");
  return (value as readonly JsonValue[]).reduce<number>((sum, each) => sum + Number(each), 0);
}

function objectOf(rest: List, run: Evaluate): JsonValue {
  const entries: [string, JsonValue][] = [];
  for (let i = 0; i + 1 < rest.length; i += 2) {
    entries.push([String(run(orNull(rest[i]))), run(orNull(rest[i + 1]))]);
  }
  return Object.fromEntries(entries);
}

/** What an address of the file leads to. */
export interface Resolved {
  readonly link: Link;
  /** The declared default of a cell. */
  readonly initial: JsonValue | undefined;
}
