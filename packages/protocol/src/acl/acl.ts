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
export type Acl = Readonly<Partial<Record<Grantee, AclLevel>>> & {
  readonly streams?: Readonly<Partial<Record<DocId, AclStreamGrants>>>;
};

/** Who may append to a stream without writing the space. */
export type AclStreamGrants = Readonly<Partial<Record<Grantee, "APPEND">>>;

const AclLevelSchema = z.enum(ACL_LEVELS);

function isGrantee(key: string): key is Grantee {
  return key === "*" || isPrincipal(key);
}

const GranteeSchema = z.string().refine(isGrantee, { error: 'neither a principal nor "*"' });
const StreamSchema = z.string().refine((id) => isDocId(id), { error: "not a document id" });

/** zod's view of {@link Acl}. Every key is a principal, `"*"` or `streams`; anything else is refused. */
export const AclSchema = z
  .object({
    [ACL_STREAMS_KEY]: z
      .record(StreamSchema, z.record(GranteeSchema, z.literal("APPEND")))
      .optional(),
  })
  .catchall(AclLevelSchema)
  .superRefine((acl, context) => {
    for (const key of Object.keys(acl)) {
      if (key === ACL_STREAMS_KEY || isGrantee(key)) continue;
      context.addIssue({ code: "custom", path: [key], message: 'neither a principal nor "*"' });
    }
  }) as unknown as z.ZodType<Acl>;

/**
 * The level a principal has: the greater of its own and everybody's. `undefined`: none, so that a
 * principal who is not authenticated at all gets what `"*"` grants and no more.
 */
export function aclLevel(acl: Acl, principal: Principal | undefined): AclLevel | undefined {
  const own = principal === undefined ? undefined : ownValue(acl, principal);
  const everybody = ownValue(acl, "*");
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

/** An ACL is stored data: a key such as `constructor` must not reach the prototype. */
function ownValue<T extends object, K extends keyof T>(from: T, key: K): T[K] | undefined {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}
