import type { Grantee, JsonValue, Link } from "@tidemark/protocol";
import type { AccessLevel, Cell, HandlerContext, Stream } from "@tidemark/runtime";
import type { Expression, Operation } from "../scenario/expression.js";
import { NotSupportedYetError } from "../run/not-supported.js";

/** What the operations of one handler run can reach. */
export interface OperationScope {
  readonly ctx: HandlerContext;
  cell(name: string): Cell<unknown>;
  stream(name: string): Stream<unknown>;
  linkOf(address: string): Link;
  /** Whom a user's name, or "*", stands for. */
  grantee(user: string): Grantee;
  value(expression: Expression): JsonValue;
  /** Resolves at `{"let": name}`; `undefined` where the run does not wait (a client's). */
  waitFor(name: string): Promise<void> | undefined;
  createPiece(name: string, pattern: string): void;
}

type Path = readonly (string | number)[];

/** Runs operations in turn: at once, or as a promise from the first one that waits. */
export function runOperations(
  operations: readonly Operation[],
  scope: OperationScope,
  from = 0,
): Promise<void> | undefined {
  for (let i = from; i < operations.length; i++) {
    const operation = operations[i];
    const waiting = operation && runOperation(operation, scope);
    if (waiting) return waiting.then(() => runOperations(operations, scope, i + 1));
  }
  return undefined;
}

function runOperation(operation: Operation, scope: OperationScope): Promise<void> | undefined {
  const [head, ...rest] = operation as unknown as readonly [string, ...unknown[]];
  const name = String(rest[0]);
  const last = () => scope.value(rest[rest.length - 1] as Expression);
  switch (head) {
    case "set":
      at(scope.cell(name), rest.length === 3 ? (rest[1] as Path) : []).set(last());
      return undefined;
    case "increment":
      scope.cell(name).increment(Number(last()));
      return undefined;
    case "append":
      scope.cell(name).append(last());
      return undefined;
    case "addUnique":
      scope.cell(name).addUnique(last());
      return undefined;
    case "remove":
      at(scope.cell(name), rest[1] as Path).remove();
      return undefined;
    case "delete":
      scope.cell(name).delete();
      return undefined;
    case "send":
      streamOf(scope, name).send(rest.length > 1 ? last() : null);
      return undefined;
    case "if":
      return runBranch(rest, scope);
    case "throw":
      throw new Error(String(scope.value(rest[0] as Expression)));
    case "abort":
      return scope.ctx.abort(name);
    case "await":
      return scope.waitFor(name);
    case "create":
      scope.createPiece(name, String(rest[1]));
      return undefined;
    case "grant":
      scope.ctx.grantSpaceAccess(scope.grantee(name), String(rest[1]) as AccessLevel);
      return undefined;
    case "revoke":
      scope.ctx.revokeSpaceAccess(scope.grantee(name));
      return undefined;
    default:
      throw new NotSupportedYetError(`operation ${head}`);
  }
}

function runBranch(rest: readonly unknown[], scope: OperationScope): Promise<void> | undefined {
  const branch = scope.value(rest[0] as Expression) ? rest[1] : rest[2];
  return branch === undefined ? undefined : runOperations(branch as readonly Operation[], scope);
}

function streamOf(scope: OperationScope, name: string): Stream<unknown> {
  return name.includes("/") ? scope.ctx.streamAt(scope.linkOf(name)) : scope.stream(name);
}

/** The part of a cell at a path. */
function at(cell: Cell<unknown>, path: Path): Cell<unknown> {
  return path.reduce<Cell<unknown>>((part, step) => part.key(step) as Cell<unknown>, cell);
}

const SERVED = new Set([
  "set",
  "increment",
  "append",
  "addUnique",
  "remove",
  "delete",
  "send",
  "if",
  "throw",
  "abort",
  "await",
  "create",
  "grant",
  "revoke",
]);

/** Refuses, before anything runs, a handler that uses an operation which nothing serves yet. */
export function requireServed(operations: readonly Operation[]): void {
  for (const operation of operations) {
    const [head, , ...branches] = operation as unknown as readonly [string, unknown, ...unknown[]];
    if (!SERVED.has(head)) throw new NotSupportedYetError(`operation ${head}`);
    if (head === "if") {
      for (const branch of branches) requireServed(branch as readonly Operation[]);
    }
  }
}
