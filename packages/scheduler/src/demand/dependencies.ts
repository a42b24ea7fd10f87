import type { InstanceKey } from "@tidemark/protocol";
import { RegistrationError } from "../errors.js";
import { createAlgorithm, type Algorithm } from "../graph/algorithm.js";
import { MUTABLE, PENDING, STALE, type Link, type ReactiveNode } from "../graph/node.js";
import type { ActionNode } from "../run/action-node.js";
import { DocEntry, Port, TrieNode } from "../trigger/port.js";
import { TriggerIndex } from "../trigger/trigger-index.js";
import type { ReadEntry } from "../types.js";
import { Heights } from "./heights.js";
import { Liveness, type LivenessHooks } from "./liveness.js";

export interface DependencyHooks extends Omit<LivenessHooks, "cyclic"> {
  /** A live node was marked. */
  readonly marked: (node: ActionNode) => void;
}

const OWNER_KEY = "" as InstanceKey;

/** The edges: between writers, ports and readers; and with every edge, heights and liveness. */
export class Dependencies {
  readonly index = new TriggerIndex();
  readonly heights = new Heights();
  readonly liveness: Liveness;
  readonly #algorithm: Algorithm;
  #version = 0;
  edges = 0;

  constructor(hooks: DependencyHooks) {
    this.liveness = new Liveness({ ...hooks, cyclic: () => this.heights.backEdges > 0 });
    this.#algorithm = createAlgorithm({
      // Values are pulled by running actions, not through the algorithm's own check.
      update: () => false,
      notify: hooks.marked as (node: ReactiveNode) => void,
      unwatched: (node) => this.#unwatched(node),
    });
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
    node.depsTail = node.ownerLink;
    this.#version++;
    let stale = node.ownerLink !== undefined && (node.ownerLink.dep.flags & PENDING) !== 0;
    for (let i = 0; i < reads.length; i++) {
      const port = this.#follow(node, reads[i] as ReadEntry);
      if (port.flags & PENDING) stale = true;
    }
    const tail = node.depsTail;
    if ((tail !== undefined ? tail.nextDep : node.deps) !== undefined) this.#dropUnread(node);
    return stale;
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
    if (node.subs !== undefined) this.#algorithm.propagate(node.subs);
  }

  /** The node is current: so are its ports. */
  clearPorts(node: ActionNode): void {
    for (let edge = node.subs; edge !== undefined; edge = edge.nextSub) edge.sub.flags = MUTABLE;
  }

  #follow(node: ActionNode, read: ReadEntry): Port {
    const tail = node.depsTail;
    const next = tail !== undefined ? tail.nextDep : node.deps;
    // Most runs read what the run before read, in the same order: no lookup then.
    if (next !== undefined && isSameRead(next.dep as Port, read, node)) {
      next.version = this.#version;
      node.depsTail = next;
      return next.dep as Port;
    }
    const doc = this.index.entry(read.key);
    const own = doc.writer === node;
    const port = this.index.port(doc, read, own);
    if (own) node.readsOwn = true;
    if (port.writer === undefined && !own && doc.writer !== undefined)
      this.#connect(port, doc.writer);
    const edge = this.#algorithm.link(port, node, this.#version);
    if (edge !== undefined) this.#edgeAdded(edge);
    return port;
  }

  #edgeAdded(edge: Link): void {
    this.edges++;
    const input = (edge.dep as Port).writer;
    if (input === undefined) return;
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
    const dropped: Link[] = [];
    for (; edge !== undefined; edge = this.#algorithm.unlink(edge)) dropped.push(edge);
    // After all of them are out: leaving looks at the edges that remain.
    this.edges -= dropped.length;
    for (const gone of dropped) this.heights.removed(gone);
    this.liveness.edgesRemoved(node, dropped);
    for (const gone of dropped) if (gone.dep.subs === undefined) this.#forget(gone.dep as Port);
  }

  /** The common case of {@link #dropUnread}: one edge to drop. */
  #dropLast(node: ActionNode, edge: Link): void {
    this.#algorithm.unlink(edge);
    this.edges--;
    this.heights.removed(edge);
    this.liveness.edgeRemoved(node, edge);
    if (edge.dep.subs === undefined) this.#forget(edge.dep as Port);
  }

  #connect(port: Port, writer: ActionNode): void {
    port.writer = writer;
    this.#algorithm.link(writer, port, ++this.#version);
    if (writer.flags & STALE && port.subs === undefined) port.flags |= PENDING;
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
      this.heights.added(edge, writer);
      this.liveness.edgeAdded(edge);
    }
  }

  #disconnect(port: Port): void {
    if (port.writer === undefined) return;
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) this.heights.removed(edge);
    port.writer = undefined;
    port.flags = MUTABLE;
    port.depsTail = undefined;
    if (port.deps !== undefined) this.#algorithm.unlink(port.deps);
  }

  #own(parent: ActionNode, child: ActionNode): void {
    if (parent.ownerPort === undefined) {
      parent.ownerPort = new Port(
        new DocEntry(OWNER_KEY),
        new TrieNode("", undefined),
        [],
        "owner",
        false,
      );
      this.#connect(parent.ownerPort, parent);
    }
    child.ownerLink = this.#algorithm.link(parent.ownerPort, child, ++this.#version);
    if (child.ownerLink !== undefined) this.#edgeAdded(child.ownerLink);
  }

  #unwatched(_node: ReactiveNode): void {
    // Ports are forgotten by `#dropUnread`, once liveness has looked at their edges.
  }

  #forget(port: Port): void {
    const { writer } = port;
    if (port.deps !== undefined) this.#algorithm.unlink(port.deps);
    port.writer = undefined;
    if (port.kind !== "owner") this.index.drop(port);
    else if (writer?.ownerPort === port) writer.ownerPort = undefined;
  }
}

function isSameRead(port: Port, read: ReadEntry, node: ActionNode): boolean {
  if (port.key !== read.key || port.kind !== read.kind) return false;
  // A port of the node's own document is one of its own; asked without touching the document where it is not.
  if (port.own ? port.doc.writer !== node : port.writer === node) return false;
  const a = port.path;
  const b = read.path;
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
