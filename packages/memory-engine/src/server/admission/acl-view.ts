import {
  ACL_DOC,
  aclLevel,
  AclSchema,
  AuthorizationError,
  mayAppend,
  ProtocolError,
  SPACE_SCOPE_KEY,
  type Acl,
  type AclLevel,
  type DocId,
  type JsonValue,
  type Principal,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { Engine } from "../../engine-types.js";

/** An ACL and the seq of its last change: what a refusal names as `aclRevision`. */
export interface AclState {
  readonly acl: Acl;
  readonly revision: Seq;
}

const NOBODY = {} as Acl;

/**
 * The space's ACL as the store has it now. Parsed once per revision; the revision is asked for each
 * time, so that a change by another process counts at once.
 */
export class AclView {
  readonly #engine: Engine;
  #cached: AclState | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  current(): AclState {
    const { value, seq } = this.#engine.read(ACL_DOC, SPACE_SCOPE_KEY);
    if (this.#cached?.revision === seq) return this.#cached;
    const state = { acl: parseAcl(value) ?? NOBODY, revision: seq };
    this.#cached = state;
    return state;
  }

  level(principal: Principal): AclLevel | undefined {
    return aclLevel(this.current().acl, principal);
  }
}

/** The ACL in a stored value; `undefined` for one that is none, which grants nothing. */
export function parseAcl(value: JsonValue | undefined): Acl | undefined {
  const parsed = AclSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/**
 * The list that a change would leave (ME-A9).
 *
 * @throws ProtocolError for what is no list, AuthorizationError for one without an owner
 */
export function requireAcl(value: JsonValue | undefined): Acl {
  const acl = parseAcl(value);
  if (acl === undefined) {
    throw new ProtocolError(`what would be the access list is none; write levels by principal`, {});
  }
  if (namesAnOwner(acl)) return acl;
  throw new AuthorizationError("a space keeps an owner: name one principal OWNER", {
    permanentEvidence: true,
  });
}

/** Whether a principal by name, not merely everybody, owns the space. */
export function namesAnOwner(acl: Acl): boolean {
  return Object.entries(acl).some(([grantee, level]) => grantee !== "*" && level === "OWNER");
}

/** The refusal of a principal whom the current ACL denies: repeating it cannot help (protocol.md §2). */
export function deniedBy(
  state: AclState,
  principal: Principal,
  space: SpaceId,
  what: string,
): AuthorizationError {
  return new AuthorizationError(
    `${principal} may not ${what} in ${space} as of access list revision ${state.revision}`,
    { permanentEvidence: true, aclRevision: state.revision },
  );
}

/** Whether the list names a stream that the principal may append to without writing the space. */
export function mayAppendSomewhere(acl: Acl, principal: Principal): boolean {
  return Object.keys(acl.streams ?? {}).some((id) => mayAppend(acl, principal, id as DocId));
}
