import type { InstanceKey } from "@tidemark/protocol";
import { RegistrationError } from "../errors.js";
import { STALE } from "../graph/node.js";
import { READS_OWN, type ActionNode } from "../run/action-node.js";
import { DocEntry, Port, TrieNode } from "../trigger/port.js";
import { TriggerIndex } from "../trigger/trigger-index.js";
import type { ReadEntry } from "../types.js";
import { link, unlink, type Edge } from "./edges.js";
import { Heights } from "./heights.js";
import { Liveness, type LivenessHooks } from "./liveness.js";
import { Propagation } from "./propagation.js";

export interface DependencyHooks extends Omit<LivenessHooks, "cyclic"> {
  /** A live node was marked. */
  readonly marked: (node: ActionNode) => void;
  /** Heights are about to change: marks that were put off are sent now. */
  readonly sendMarks: () => void;
}

const OWNER_KEY = "" as InstanceKey;
const OWNER = { path: [], kind: "owner" } as const;

/** The edges: between writers, ports and readers; and with every edge, heights and liveness. */
export class Dependencies {
  readonly index = new TriggerIndex();
  readonly heights = new Heights();
  readonly liveness: Liveness;
  readonly #propagation: Propagation;
  readonly #sendMarks: () => void;
  #version = 0;
  edges = 0;

  constructor(hooks: DependencyHooks) {
    this.liveness = new Liveness({ ...hooks, cyclic: () => this.heights.cyclic });
    this.#propagation = new Propagation(hooks.marked);
    this.#sendMarks = hooks.sendMarks;
  }

  /** Makes `node` the writer of its keys, and everything that already reads them its reader. */
  attach(node: ActionNode): void {
    for (const key of node.spec.writes) {
      if (this.index.get(key)?.writer === undefined) continue;
      throw new RegistrationError(`${node.name} cannot write ${key}: it has a writer already.`, {
        action: node.action,
        instance: node.instance,
      });
    }
    const docs = node.spec.writes.map((key) => this.index.entry(key));
    node.docs = docs;
    for (const doc of docs) {
      doc.writer = node;
      for (const port of this.index.portsOf(doc)) this.#connect(port, node);
    }
    if (node.parent !== undefined) this.#own(node.parent, node);
    for (const doc of docs) if (doc.demand > 0) this.liveness.rootAdded(node);
    this.markReaders(node);
  }

  detach(node: ActionNode): void {
    for (const doc of node.docs) if (doc.demand > 0) this.liveness.rootRemoved(node);
    node.depsTail = undefined;
    node.ownerLink = undefined;
    this.#dropUnread(node);
    for (const doc of node.docs) {
      for (const port of this.index.portsOf(doc)) this.#disconnect(port);
      doc.writer = undefined;
      this.index.release(doc);
    }
    this.liveness.gone(node);
  }

  /** Subscribes a node to exactly these reads; true when one of their writers is not current. */
  relink(node: ActionNode, reads: readonly ReadEntry[]): boolean {
    const { ownerLink } = node;
    let stale = ownerLink !== undefined && ownerLink.port.pending;
    let next = ownerLink === undefined ? node.deps : ownerLink.nextDep;
    let tail = ownerLink;
    let same = 0;
    // Most runs read what the run before read, in the same order: nothing is looked up or written then.
    for (; next !== undefined && same < reads.length; same++) {
      const { port } = next;
      if (!isSameRead(port, reads[same] as ReadEntry)) break;
      if (port.pending) stale = true;
      tail = next;
      next = next.nextDep;
    }
    if (next === undefined && same === reads.length) return stale;
    node.depsTail = tail;
    return this.#relinkRest(node, reads, same) || stale;
  }

  demand(key: InstanceKey, on: boolean): void {
    const doc = this.index.entry(key);
    if (on) {
      if (doc.demand++ === 0 && doc.writer !== undefined) this.liveness.rootAdded(doc.writer);
      return;
    }
    if (doc.demand === 0) {
      this.index.release(doc);
      return;
    }
    if (--doc.demand > 0) return;
    if (doc.writer !== undefined) this.liveness.rootRemoved(doc.writer);
    this.index.release(doc);
  }

  /** Marks everything downstream of a node that became stale. */
  markReaders(node: ActionNode): void {
    if (node.ports !== undefined) this.#propagation.from(node);
  }

  /** The node is current: so are its ports. */
  clearPorts(node: ActionNode): void {
    for (let port = node.ports; port !== undefined; port = port.nextPort) port.pending = false;
  }

  /** The rest of {@link relink}, from the first read on that is not the same; `depsTail` stands before it. */
  #relinkRest(node: ActionNode, reads: readonly ReadEntry[], same: number): boolean {
    const version = ++this.#version;
    // The edges that stay carry the new number too, so that a read of one of them does not make a second edge.
    for (let edge = node.depsTail; edge !== undefined; edge = edge.prevDep) edge.version = version;
    let stale = false;
    for (let i = same; i < reads.length; i++) {
      if (this.#follow(node, reads[i] as ReadEntry).pending) stale = true;
    }
    this.#dropUnread(node);
    return stale;
  }

  #follow(node: ActionNode, read: ReadEntry): Port {
    const tail = node.depsTail;
    const next = tail !== undefined ? tail.nextDep : node.deps;
    if (next !== undefined && isSameRead(next.port, read)) {
      next.version = this.#version;
      node.depsTail = next;
      return next.port;
    }
    const doc = this.index.entry(read.key);
    const own = doc.writer === node;
    const port = this.index.port(doc, read, own);
    if (own) node.flags |= READS_OWN;
    if (port.writer === undefined && !own && doc.writer !== undefined)
      this.#connect(port, doc.writer);
    const edge = link(port, node, this.#version);
    if (edge !== undefined) this.#edgeAdded(edge);
    return port;
  }

  #edgeAdded(edge: Edge): void {
    this.edges++;
    const input = edge.port.writer;
    if (input === undefined) return;
    if (input.height >= edge.reader.height) this.#sendMarks();
    this.heights.added(edge, input);
    this.liveness.edgeAdded(edge);
  }

  #dropUnread(node: ActionNode): void {
    let edge = node.depsTail !== undefined ? node.depsTail.nextDep : node.deps;
    if (edge === undefined) return;
    if (edge.nextDep === undefined) {
      this.#dropLast(node, edge);
      return;
    }
    const dropped: Edge[] = [];
    for (; edge !== undefined; edge = unlink(edge)) dropped.push(edge);
    // After all of them are out: leaving looks at the edges that remain.
    this.edges -= dropped.length;
    for (const gone of dropped) this.heights.removed(gone);
    this.liveness.edgesRemoved(node, dropped);
    for (const gone of dropped) if (gone.port.subs === undefined) this.#forget(gone.port);
  }

  /** The common case of {@link #dropUnread}: one edge to drop. */
  #dropLast(node: ActionNode, edge: Edge): void {
    unlink(edge);
    this.edges--;
    this.heights.removed(edge);
    this.liveness.edgeRemoved(node, edge);
    if (edge.port.subs === undefined) this.#forget(edge.port);
  }

  #connect(port: Port, writer: ActionNode): void {
    addPort(writer, port);
    if (writer.flags & STALE && port.subs === undefined) port.pending = true;
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
      this.heights.added(edge, writer);
      this.liveness.edgeAdded(edge);
    }
  }

  #disconnect(port: Port): void {
    if (port.writer === undefined) return;
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) this.heights.removed(edge);
    removePort(port.writer, port);
  }

  #own(parent: ActionNode, child: ActionNode): void {
    if (parent.ownerPort === undefined) {
      parent.ownerPort = new Port(
        new DocEntry(OWNER_KEY),
        new TrieNode("", undefined),
        OWNER,
        false,
      );
      this.#connect(parent.ownerPort, parent);
    }
    child.ownerLink = link(parent.ownerPort, child, ++this.#version);
    if (child.ownerLink !== undefined) this.#edgeAdded(child.ownerLink);
  }

  #forget(port: Port): void {
    const { writer } = port;
    if (writer !== undefined) removePort(writer, port);
    if (port.read !== OWNER) this.index.drop(port);
    else if (writer?.ownerPort === port) writer.ownerPort = undefined;
  }
}

function addPort(writer: ActionNode, port: Port): void {
  const last = writer.portsTail;
  port.writer = writer;
  port.prevPort = last;
  if (last === undefined) writer.ports = port;
  else last.nextPort = port;
  writer.portsTail = port;
}

function removePort(writer: ActionNode, port: Port): void {
  const { prevPort, nextPort } = port;
  if (prevPort === undefined) writer.ports = nextPort;
  else prevPort.nextPort = nextPort;
  if (nextPort === undefined) writer.portsTail = prevPort;
  else nextPort.prevPort = prevPort;
  port.prevPort = port.nextPort = undefined;
  port.writer = undefined;
  port.pending = false;
}

/**
 * Whether a port that the node reads already is the one of this read. Whether it is the node's own need not be asked:
 * what a node writes is known before it reads.
 */
function isSameRead(port: Port, read: ReadEntry): boolean {
  // A caller that keeps its entries is spared the comparison.
  if (port.read === read) return true;
  if (port.key !== read.key || port.read.kind !== read.kind) return false;
  const a = port.read.path;
  const b = read.path;
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
