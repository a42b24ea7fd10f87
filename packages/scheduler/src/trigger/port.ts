import type { InstanceKey, JsonValue, Path } from "@tidemark/protocol";
import type { Edge } from "../demand/edges.js";
import type { ActionNode } from "../run/action-node.js";

type Segment = string | number;

/** What is read at a place; an owner is read by its children alone, and has no value. */
export interface PlaceRead {
  readonly path: Path;
  readonly kind: "value" | "shape" | "owner";
}

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
export class Port {
  // What a step looks at comes first: it then touches few lines of memory.
  /** Its writer is not current: what is here may change. */
  pending = false;
  readonly key: InstanceKey;
  subs: Edge | undefined = undefined;
  /** The next place that the writer's readers read. */
  nextPort: Port | undefined = undefined;
  /** The value of the whole document. */
  readonly plain: boolean;
  /** The first read of this place. */
  readonly read: PlaceRead;
  writer: ActionNode | undefined = undefined;
  /** Read by the writer itself: no edge to the writer, told of outsiders' writes alone. */
  readonly own: boolean;

  subsTail: Edge | undefined = undefined;
  prevPort: Port | undefined = undefined;
  readonly doc: DocEntry;
  readonly place: TrieNode;

  constructor(doc: DocEntry, place: TrieNode, read: PlaceRead, own: boolean) {
    this.key = doc.key;
    this.read = read;
    this.plain = read.path.length === 0 && read.kind === "value";
    this.own = own;
    this.doc = doc;
    this.place = place;
  }
}
