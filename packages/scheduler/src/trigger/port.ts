import type { InstanceKey, JsonValue, Path } from "@tidemark/protocol";
import { MUTABLE, type Link, type ReactiveNode } from "../graph/node.js";
import type { ActionNode } from "../run/action-node.js";

type Segment = string | number;

/** One place in the paths that a document's readers read. */
export class TrieNode {
  readonly segment: Segment;
  readonly parent: TrieNode | undefined;
  children: Map<Segment, TrieNode> | undefined = undefined;
  readonly ports: Port[] = [];

  constructor(segment: Segment, parent: TrieNode | undefined) {
    this.segment = segment;
    this.parent = parent;
  }
}

/** What is known of one document instance: who writes it, who reads where. */
export class DocEntry {
  readonly key: InstanceKey;
  readonly root = new TrieNode("", undefined);
  writer: ActionNode | undefined = undefined;
  demand = 0;
  ports = 0;
  /** Ports through which the writer reads what it writes. */
  ownPorts = 0;
  /** What the writer wrote last; kept only while it reads it, to tell its own value from an outsider's. */
  written: JsonValue | undefined = undefined;

  constructor(key: InstanceKey) {
    this.key = key;
  }
}

/**
 * The value or outline of one path of one document instance: the node between the writer of the document and the
 * readers of the path. Marks pass through it; only readers whose path changed are told.
 */
export class Port implements ReactiveNode {
  flags = MUTABLE;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  subsTail: Link | undefined = undefined;

  readonly doc: DocEntry;
  readonly key: InstanceKey;
  readonly path: Path;
  readonly kind: "value" | "shape" | "owner";
  /** Read by the writer itself: no edge to the writer, told of outsiders' writes alone. */
  readonly own: boolean;
  readonly place: TrieNode;
  writer: ActionNode | undefined = undefined;

  constructor(
    doc: DocEntry,
    place: TrieNode,
    path: Path,
    kind: "value" | "shape" | "owner",
    own: boolean,
  ) {
    this.doc = doc;
    this.key = doc.key;
    this.place = place;
    this.path = path;
    this.kind = kind;
    this.own = own;
  }
}
