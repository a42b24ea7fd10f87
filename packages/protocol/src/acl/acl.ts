import { z } from "zod";
import { type DocId, type Principal, isDocId, isPrincipal } from "../ids/ids.js";

/** What a principal may do in a space. Each level holds the ones before it. */
export const ACL_LEVELS = ["READ", "WRITE", "OWNER"] as const;

/** READ < WRITE < OWNER. */
export type AclLevel = (typeof ACL_LEVELS)[number];

/** A principal, or everybody. */
export type Grantee = Principal | "*";

/** The key of the ACL document that holds grants per stream. */
export const ACL_STREAMS_KEY = "streams";

/**
 * The value of the ACL document (`sys:acl`, space scope): a level per principal or for everybody
 * (`"*"`), and appends to single streams for those who may not write.
 */
export interface Acl {
  /** Keys are of {@link Grantee}; text here, because TypeScript widens a computed key to text. */
  readonly [grantee: string]: AclLevel | AclStreams | undefined;
  readonly streams?: AclStreams;
}

/** Who may append to single streams without writing the space: `{ [streamId]: { [grantee]: "APPEND" } }`. */
export type AclStreams = Readonly<Record<string, Readonly<Record<string, "APPEND">>>>;

/** What is wrong with an ACL, and where. */
export interface AclProblem {
  readonly path: readonly string[];
  readonly reason: string;
}

type Plain = Readonly<Record<string, unknown>>;
type Check = (key: string, value: unknown) => string | undefined;

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isGrantee(key: string): boolean {
  return key === "*" || isPrincipal(key);
}

function firstProblem(map: unknown, path: readonly string[], check: Check): AclProblem | undefined {
  if (!isPlain(map)) return { path, reason: "not an object" };
  for (const key of Object.keys(map)) {
    const reason = check(key, map[key]);
    if (reason !== undefined) return { path: [...path, key], reason };
  }
  return undefined;
}

const checkLevel: Check = (key, value) => {
  if (!isGrantee(key)) return 'neither a principal nor "*"';
  return ACL_LEVELS.some((level) => level === value) ? undefined : "not a level";
};

const checkAppend: Check = (key, value) => {
  if (!isGrantee(key)) return 'neither a principal nor "*"';
  return value === "APPEND" ? undefined : "not APPEND";
};

function streamsProblem(streams: unknown): AclProblem | undefined {
  const path = [ACL_STREAMS_KEY];
  const problem = firstProblem(streams, path, (id) =>
    isDocId(id) ? undefined : "not a document id",
  );
  if (problem !== undefined) return problem;
  for (const [id, grants] of Object.entries(streams as Plain)) {
    const inside = firstProblem(grants, [...path, id], checkAppend);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/**
 * Finds what is wrong with an ACL, if anything is: every key is a principal, `"*"` or `streams`. By
 * hand, because zod's records drop a key named `__proto__` instead of refusing it (R38).
 */
export function aclProblem(value: unknown): AclProblem | undefined {
  const skipStreams: Check = (key, level) =>
    key === ACL_STREAMS_KEY ? undefined : checkLevel(key, level);
  const problem = firstProblem(value, [], skipStreams);
  if (problem !== undefined) return problem;
  const acl = value as Plain;
  return Object.hasOwn(acl, ACL_STREAMS_KEY) ? streamsProblem(acl[ACL_STREAMS_KEY]) : undefined;
}

/** See {@link Acl} and {@link aclProblem}. */
export const AclSchema: z.ZodType<Acl> = z
  .unknown()
  .transform((value, context): Acl => {
    const problem = aclProblem(value);
    if (problem === undefined) return value as Acl;
    const { path, reason } = problem;
    context.issues.push({ code: "custom", message: reason, input: value, path: [...path] });
    return z.NEVER;
  })
  .meta({ title: "acl", description: ["streams", "APPEND", ...ACL_LEVELS].join() });

/**
 * The level a principal has: the greater of its own and everybody's. `undefined`: none, so that a
 * principal who is not authenticated at all gets what `"*"` grants and no more.
 */
export function aclLevel(acl: Acl, principal: Principal | undefined): AclLevel | undefined {
  const own = principal === undefined ? undefined : levelOf(acl, principal);
  const everybody = levelOf(acl, "*");
  return levelAtLeast(own, everybody ?? "READ") ? own : everybody;
}

/** Whether the principal may read the space's documents. */
export function mayRead(acl: Acl, principal: Principal | undefined): boolean {
  return aclLevel(acl, principal) !== undefined;
}

/** Whether the principal may commit writes. */
export function mayWrite(acl: Acl, principal: Principal | undefined): boolean {
  return levelAtLeast(aclLevel(acl, principal), "WRITE");
}

/** Whether the principal may change the ACL itself. */
export function isOwner(acl: Acl, principal: Principal | undefined): boolean {
  return aclLevel(acl, principal) === "OWNER";
}

/** Whether the principal may append to the stream: by writing the space, or by a grant on the stream. */
export function mayAppend(acl: Acl, principal: Principal | undefined, stream: DocId): boolean {
  if (mayWrite(acl, principal)) return true;
  const grants = acl.streams === undefined ? undefined : ownValue(acl.streams, stream);
  if (grants === undefined) return false;
  const own = principal === undefined ? undefined : ownValue(grants, principal);
  return (own ?? ownValue(grants, "*")) === "APPEND";
}

/** Whether `level` holds `wanted`. */
export function levelAtLeast(level: AclLevel | undefined, wanted: AclLevel): boolean {
  return level !== undefined && ACL_LEVELS.indexOf(level) >= ACL_LEVELS.indexOf(wanted);
}

function levelOf(acl: Acl, grantee: Grantee): AclLevel | undefined {
  const level = ownValue(acl, grantee);
  return typeof level === "string" ? level : undefined;
}

/** An ACL is stored data: a key such as `constructor` must not reach the prototype. */
function ownValue<V>(from: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}
