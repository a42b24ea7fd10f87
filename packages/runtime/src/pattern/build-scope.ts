import {
  nodeIdFor,
  streamIdFor,
  type DocId,
  type JsonValue,
  type ScopeKind,
} from "@tidemark/protocol";
import type { ZodType } from "zod";
import type { NodeRef, PlainOwner } from "../cell/node-ref.js";
import type { Readable } from "../cell/types.js";
import type { BuiltInName } from "../effect/built-in.js";
import { PatternError } from "../errors.js";
import type { HandlerContext } from "../frame/context.js";

/** What every node has. */
interface NodeBase {
  /** Durable: renaming is a new node (builtins.md). */
  readonly name: string;
  readonly id: DocId;
  readonly schema?: ZodType | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** State. */
export interface CellNode extends NodeBase {
  readonly kind: "cell";
  readonly scope: ScopeKind;
  readonly initial: JsonValue | undefined;
}

/** A derivation with one output. */
export interface ComputedNode extends NodeBase {
  readonly kind: "computed";
  readonly compute: () => unknown;
}

/** A handler and its stream; `id` is the stream's. */
export interface HandlerNode extends NodeBase {
  readonly kind: "handler";
  readonly handle: (payload: never, ctx: HandlerContext) => unknown;
}

/** How the children of a list make up its value. */
export type ListForm = "map" | "filter" | "flatMap";

/** A child per element. */
export interface ListNode extends NodeBase {
  readonly kind: "list";
  readonly form: ListForm;
  readonly over: () => unknown;
  readonly keyOf: ((item: never, index: number) => string | number) | undefined;
  readonly item: (item: Readable<never>, at: { readonly key: string }) => unknown;
}

/** A derivation that sends an event when a value changes. */
export interface SenderNode extends NodeBase {
  readonly kind: "sender";
  readonly when: () => unknown;
  readonly send: (value: never) => void;
}

/** A node whose value comes from outside the space (builtins.md "Effectful nodes"). */
export interface EffectNode extends NodeBase {
  readonly kind: "effect";
  readonly builtIn: BuiltInName;
  readonly request: () => unknown;
  /** JSON Schema that the request carries along for its answer. */
  readonly answerSchema: JsonValue | undefined;
}

/** A node of a piece. */
export type PieceNode = CellNode | ComputedNode | EffectNode | HandlerNode | ListNode | SenderNode;

/** For whom a pattern is built. */
export interface BuildTarget {
  readonly pieceId: DocId;
  readonly owner?: PlainOwner | undefined;
}

const MAX_NAME_LENGTH = 128;
// "/", "@" and "#" part the words of action ids and of the ids of list children.
const FORBIDDEN_IN_NAME = /[\p{Cc}\p{Surrogate}/@#[\]]/u;

/** Collects the nodes of one build, by their durable names. */
export class BuildScope {
  readonly pieceId: DocId;
  readonly patternId: string;
  readonly #owner: PlainOwner | undefined;
  readonly #nodes = new Map<string, PieceNode>();

  constructor(patternId: string, target: BuildTarget) {
    this.patternId = patternId;
    this.pieceId = target.pieceId;
    this.#owner = target.owner;
  }

  get nodes(): ReadonlyMap<string, PieceNode> {
    return this.#nodes;
  }

  nodeId(name: string): DocId {
    return nodeIdFor(this.pieceId, this.#checked(name));
  }

  streamId(name: string): DocId {
    return streamIdFor(this.pieceId, this.#checked(name));
  }

  /** @throws PatternError for a name that the pattern already uses. */
  add<N extends PieceNode>(node: N): N {
    if (this.#nodes.has(node.name)) {
      throw this.#refuse(node.name, `already has a node named "${node.name}"`);
    }
    this.#nodes.set(node.name, node);
    return node;
  }

  /** The address of a node's document. */
  ref(node: Exclude<PieceNode, HandlerNode>): NodeRef {
    const cell = node.kind === "cell" ? node : undefined;
    return {
      id: node.id,
      scope: cell?.scope ?? "space",
      path: [],
      initial: cell?.initial,
      label: `${this.patternId}/${node.name}`,
      writable: cell !== undefined,
      owner: this.#owner,
    };
  }

  get owner(): PlainOwner | undefined {
    return this.#owner;
  }

  #checked(name: unknown): string {
    if (typeof name !== "string" || name === "") {
      throw this.#refuse(undefined, "has a node without a name; names are durable, so give it one");
    }
    if (name.length > MAX_NAME_LENGTH || FORBIDDEN_IN_NAME.test(name) || name === "__proto__") {
      const message = `has a node named ${JSON.stringify(name)}; a name has 1 to ${MAX_NAME_LENGTH} characters and none of / @ # [ ]`;
      throw this.#refuse(name, message);
    }
    return name;
  }

  #refuse(node: string | undefined, what: string): PatternError {
    return new PatternError(`pattern ${this.patternId} ${what}`, {
      patternId: this.patternId,
      ...(node === undefined ? {} : { node }),
    });
  }
}
