import { ACL_LEVELS, type JsonValue } from "@tidemark/protocol";

/** An expression of the format: a JSON scalar, or a list with a head. Shape checked by {@link checkExpression}. */
export type Expression = string | number | boolean | null | readonly Expression[] | JsonValue;

/** One operation of a handler, a list with a head. Shape checked by {@link checkOperation}. */
export type Operation = readonly (JsonValue | Expression)[];

/** Least and greatest number of arguments after the head. */
type Arity = readonly [least: number, greatest: number];

const MANY = Number.POSITIVE_INFINITY;

const EXPRESSIONS: Readonly<Record<string, Arity>> = {
  quote: [1, 1],
  get: [1, MANY],
  read: [1, 1],
  payload: [0, MANY],
  arg: [0, MANY],
  item: [0, MANY],
  "+": [1, MANY],
  "-": [1, MANY],
  "*": [1, MANY],
  "/": [1, MANY],
  concat: [0, MANY],
  eq: [2, 2],
  lt: [2, 2],
  gt: [2, 2],
  and: [0, MANY],
  or: [0, MANY],
  not: [1, 1],
  if: [3, 3],
  len: [1, 1],
  sum: [1, 1],
  list: [0, MANY],
  obj: [0, MANY],
  principal: [0, 0],
  eventKey: [0, 0],
  now: [0, 0],
  random: [0, 0],
  throw: [1, 1],
  busy: [2, 2],
  ran: [0, 0],
};

/** Heads whose arguments are names and path steps, not expressions. */
const PLAIN_ARGUMENTS = new Set(["quote", "get", "read", "payload", "arg", "item"]);

const OPERATIONS: Readonly<Record<string, Arity>> = {
  set: [2, 3],
  increment: [2, 2],
  append: [2, 2],
  addUnique: [2, 2],
  remove: [2, 2],
  delete: [1, 1],
  send: [1, 2],
  emit: [1, 3],
  navigate: [1, 1],
  if: [2, 3],
  throw: [1, 1],
  abort: [1, 1],
  await: [1, 1],
  request: [1, 2],
  grant: [2, 2],
  revoke: [1, 1],
  provision: [1, 1],
  create: [2, 2],
};

/** Says what is wrong with an expression, or nothing. */
export function checkExpression(value: unknown, where: string): string | undefined {
  if (!Array.isArray(value)) {
    return value !== null && typeof value === "object"
      ? `${where}: an object is no expression; write ["quote", …] or ["obj", …]`
      : undefined;
  }
  const [head, ...rest] = value as readonly unknown[];
  const wrong = checkHead(EXPRESSIONS, head, rest.length, `${where}: expression`);
  if (wrong) return wrong;
  if (head === "obj" && rest.length % 2 !== 0)
    return `${where}: "obj" takes keys and values in turn`;
  if (PLAIN_ARGUMENTS.has(head as string)) return checkPlain(head as string, rest, where);
  return firstWrong(rest, (argument, i) => checkExpression(argument, `${where}[${i + 1}]`));
}

function checkPlain(head: string, rest: readonly unknown[], where: string): string | undefined {
  if (head === "quote") return undefined;
  if ((head === "get" || head === "read") && typeof rest[0] !== "string") {
    return `${where}: "${head}" takes a name`;
  }
  return rest.every((step) => typeof step === "string" || typeof step === "number")
    ? undefined
    : `${where}: a path is made of names and indices`;
}

/** Says what is wrong with an operation, or nothing. */
export function checkOperation(value: unknown, where: string): string | undefined {
  if (!Array.isArray(value)) return `${where}: an operation is a list with a head`;
  const [head, ...rest] = value as readonly unknown[];
  const wrong = checkHead(OPERATIONS, head, rest.length, `${where}: operation`);
  if (wrong) return wrong;
  switch (head) {
    case "if":
      return checkBranches(rest, where);
    case "set":
      return checkExpression(rest[rest.length - 1], where);
    case "increment":
    case "append":
    case "addUnique":
    case "send":
    case "emit":
    case "request":
      return checkExpression(rest[1] ?? null, where);
    case "throw":
      return checkExpression(rest[0], where);
    case "grant":
      return ACL_LEVELS.some((level) => level === rest[1])
        ? undefined
        : `${where}: "grant" takes a user and one of ${ACL_LEVELS.join(", ")}`;
    default:
      return undefined;
  }
}

function checkBranches(rest: readonly unknown[], where: string): string | undefined {
  const [condition, ...branches] = rest;
  return (
    checkExpression(condition, where) ??
    firstWrong(branches, (branch, i) =>
      Array.isArray(branch)
        ? firstWrong(branch, (op, j) => checkOperation(op, `${where}[${i + 2}][${j}]`))
        : `${where}: a branch is a list of operations`,
    )
  );
}

function checkHead(
  table: Readonly<Record<string, Arity>>,
  head: unknown,
  count: number,
  what: string,
): string | undefined {
  if (typeof head !== "string" || !Object.hasOwn(table, head)) {
    return `${what} has an unknown head ${JSON.stringify(head)}`;
  }
  const [least, greatest] = table[head] ?? [0, 0];
  return count < least || count > greatest
    ? `${what} "${head}" takes ${least === greatest ? least : `${least} to ${greatest}`} arguments, not ${count}`
    : undefined;
}

function firstWrong<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const wrong = check(item, index);
    if (wrong) return wrong;
  }
  return undefined;
}
