import {
  type Acl,
  type Actor,
  type DocId,
  type Grantee,
  type Identity,
  identityFromSeed,
  instanceKey,
  type InstanceKey,
  type JsonValue,
  type Link,
  nodeIdFor,
  pieceIdFor,
  resolveScopeKey,
  type ScopeKey,
  type ScopeKind,
  seededRandom,
  type SessionId,
  SPACE_SCOPE_KEY,
  type SpaceId,
  streamIdFor,
  toLinkValue,
} from "@tidemark/protocol";
import { parseAddress, parsePieceAddress } from "../scenario/address.js";
import type { PatternFile, Scenario } from "../scenario/file.js";
import { handlerNodeName } from "../scenario/handler-name.js";

/** Where an address of the file leads. */
export interface Place {
  readonly space: SpaceId;
  readonly spaceName: string;
  readonly piece: DocId;
  readonly node: string;
  /** The node's document. */
  readonly id: DocId;
  /** The scope that the node was declared with. */
  readonly scope: ScopeKind;
  /** The instance that an address with `@` names; the space's without one. */
  readonly scopeKey: ScopeKey;
  readonly key: InstanceKey;
  readonly initial: JsonValue | undefined;
}

interface KnownPiece {
  readonly id: DocId;
  pattern: string;
}

const SEED_BYTES = 32;

/** Which real ids the names of a file stand for. The same names and seed give the same ids. */
export class Places {
  readonly #scenario: Scenario;
  readonly #seed: number;
  readonly #identities = new Map<string, Identity>();
  readonly #pieces = new Map<string, KnownPiece>();

  constructor(scenario: Scenario, seed: number) {
    this.#scenario = scenario;
    this.#seed = seed;
    for (const [space, { pieces }] of Object.entries(scenario.spaces)) {
      for (const [piece, { pattern }] of Object.entries(pieces)) {
        this.addPiece(space, piece, pattern);
      }
    }
  }

  user(name: string): Identity {
    return this.#identity(`user ${name}`);
  }

  spaceKey(name: string): Identity {
    return this.#identity(`space ${name}`);
  }

  space(name: string): SpaceId {
    if (!Object.hasOwn(this.#scenario.spaces, name)) throw new Error(`there is no space "${name}"`);
    return this.spaceKey(name).did as unknown as SpaceId;
  }

  /** What the file calls a space. */
  nameOf(space: SpaceId): string {
    const name = this.spaceNames.find((each) => this.space(each) === space);
    if (name === undefined) throw new Error(`space ${space} has no name here`);
    return name;
  }

  get spaceNames(): readonly string[] {
    return Object.keys(this.#scenario.spaces);
  }

  /** What a piece's id is made from. */
  causeOf(space: string, piece: string): JsonValue {
    return { scenario: this.#scenario.id, space, piece };
  }

  /** A piece that exists from now on; its id comes from its names unless a handler made it. */
  addPiece(space: string, piece: string, pattern: string, id?: DocId): DocId {
    const known = { id: id ?? pieceIdFor(this.causeOf(space, piece)), pattern };
    this.#pieces.set(`${space}/${piece}`, known);
    return known.id;
  }

  piecesOf(
    space: string,
  ): readonly { readonly name: string; readonly id: DocId; readonly pattern: string }[] {
    return [...this.#pieces]
      .filter(([address]) => address.startsWith(`${space}/`))
      .map(([address, piece]) => ({ name: address.slice(space.length + 1), ...piece }));
  }

  pieceAt(address: string): KnownPiece & { readonly space: SpaceId } {
    const parsed = parsePieceAddress(address);
    const piece = this.#pieces.get(address);
    if (!parsed || !piece) throw new Error(`there is no piece "${address}"`);
    return { ...piece, space: this.space(parsed.space) };
  }

  swapped(address: string, pattern: string): void {
    const piece = this.#pieces.get(address);
    if (piece) piece.pattern = pattern;
  }

  patternFile(name: string): PatternFile {
    const file = this.#scenario.patterns[name];
    if (!file) throw new Error(`there is no pattern "${name}"`);
    return file;
  }

  /** Where an address leads; `actor` is whose instance a scoped node without `@` means. */
  place(text: string, actor?: Actor): Place {
    const address = parseAddress(text);
    if (!address) throw new Error(`"${text}" is no address`);
    const { space, piece, node } = address;
    const known = this.pieceAt(`${space}/${piece}`);
    const file = this.patternFile(known.pattern);
    const id = nodeIdFor(known.id, node);
    const cell = file.cells?.[node];
    const scope = cell?.scope ?? "space";
    const named = this.#namedScope(address.user, address.session);
    const scopeKey = named ?? (actor ? resolveScopeKey(scope, actor) : SPACE_SCOPE_KEY);
    return {
      space: known.space,
      spaceName: space,
      piece: known.id,
      node,
      id,
      scope,
      scopeKey,
      key: instanceKey(id, scopeKey),
      initial: cell?.default,
    };
  }

  /** The stream of the handler that an address names. */
  stream(text: string): { readonly space: SpaceId; readonly id: DocId } {
    const address = parseAddress(text);
    if (!address) throw new Error(`"${text}" is no address`);
    const known = this.pieceAt(`${address.space}/${address.piece}`);
    const node = handlerNodeName(this.patternFile(known.pattern), address.node);
    return { space: known.space, id: streamIdFor(known.id, node) };
  }

  /** The link to a handler's stream, for operations that send to one. It names its space. */
  streamLink(address: string): Link {
    return this.stream(address);
  }

  /** The link to a node, for expressions and arguments that name one. It names its space unless that is `home`. */
  link(
    address: string,
    home?: string,
  ): { readonly link: Link; readonly initial: JsonValue | undefined } {
    const { id, scope, space, spaceName, initial } = this.place(address);
    const link: Link = {
      id,
      ...(scope === "space" ? {} : { scope }),
      ...(home === spaceName ? {} : { space }),
    };
    return { link, initial };
  }

  /** Whom a name of an access list stands for. */
  grantee(user: string): Grantee {
    return user === "*" ? user : this.user(user).did;
  }

  /** The access list that the file gives a space, by people's names. */
  aclOf(space: string): Readonly<Record<string, "READ" | "WRITE" | "OWNER">> | undefined {
    return this.#scenario.spaces[space]?.acl;
  }

  /** An access list by names of people. */
  acl(levels: Readonly<Record<string, "READ" | "WRITE" | "OWNER">>): Acl {
    return Object.fromEntries(
      Object.entries(levels).map(([user, level]) => [this.grantee(user), level]),
    ) as Acl;
  }

  /** Raw entry fields, with people's names in `firedAt` turned into principals. */
  entryFields(entry: Readonly<Record<string, JsonValue>>): Readonly<Record<string, JsonValue>> {
    const firedAt = entry["firedAt"];
    if (firedAt === null || typeof firedAt !== "object" || Array.isArray(firedAt)) return entry;
    const fields = firedAt as Readonly<Record<string, JsonValue>>;
    const user = fields["user"];
    return typeof user === "string"
      ? { ...entry, firedAt: { ...fields, user: this.user(user).did } }
      : entry;
  }

  /** An argument, with `{"link": address}` turned into links. */
  argument(value: JsonValue, home: string): JsonValue {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((each: JsonValue) => this.argument(each, home));
    const fields = Object.entries(value as Record<string, JsonValue>);
    const [first] = fields;
    if (fields.length === 1 && first?.[0] === "link" && typeof first[1] === "string") {
      return toLinkValue(this.link(first[1], home).link);
    }
    return Object.fromEntries(fields.map(([key, each]) => [key, this.argument(each, home)]));
  }

  #namedScope(user: string | undefined, session: string | undefined): ScopeKey | undefined {
    if (user === undefined) return undefined;
    const principal = this.user(user).did;
    return session === undefined
      ? resolveScopeKey("user", { user: principal })
      : resolveScopeKey("session", { user: principal, session: session as SessionId });
  }

  #identity(name: string): Identity {
    const known = this.#identities.get(name);
    if (known) return known;
    const identity = identityFromSeed(
      seededRandom(hashOf(`${this.#seed} ${name}`)).bytes(SEED_BYTES),
    );
    this.#identities.set(name, identity);
    return identity;
  }
}

/** FNV-1a: a seed out of a name. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}
