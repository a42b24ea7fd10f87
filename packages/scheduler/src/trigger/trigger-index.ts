import {
  jsonEqual,
  jsonSameShape,
  type InstanceKey,
  type JsonValue,
  type Path,
} from "@tidemark/protocol";
import type { Change, ReadEntry } from "../types.js";
import { DocEntry, Port, TrieNode } from "./port.js";

/** With more hinted paths than this, one walk over the readers is cheaper than one per path. */
const MAX_HINTED_PATHS = 64;

/**
 * From document instance and path to readers (seed 001 §3, "the graph's input links"). Paths stand in a trie per
 * document: a change visits the readers on and below the places it touched, however many others there are.
 */
export class TriggerIndex {
  readonly #docs = new Map<InstanceKey, DocEntry>();
  /** Found last: a read is looked up when it is pulled and again when it becomes an edge, and many read the same. */
  #recent: DocEntry | undefined;
  /** Scratch of {@link changed}: a list per change would be garbage. */
  readonly #hit: Port[] = [];
  #ports = 0;

  get documents(): number {
    return this.#docs.size;
  }

  get ports(): number {
    return this.#ports;
  }

  get(key: InstanceKey): DocEntry | undefined {
    const recent = this.#recent;
    if (recent !== undefined && recent.key === key) return recent;
    const doc = this.#docs.get(key);
    if (doc !== undefined) this.#recent = doc;
    return doc;
  }

  entry(key: InstanceKey): DocEntry {
    let doc = this.get(key);
    if (doc === undefined) this.#docs.set(key, (doc = new DocEntry(key)));
    return doc;
  }

  /** The port of a read of this document; a new one, without edges, when nobody read that before. */
  port(doc: DocEntry, read: ReadEntry, own: boolean): Port {
    let place = doc.root;
    for (const segment of read.path) place = child(place, segment);
    for (const port of place.ports) {
      if (port.read.kind === read.kind && port.own === own) return port;
    }
    const port = new Port(doc, place, read, own);
    place.ports.push(port);
    doc.ports++;
    if (own) doc.ownPorts++;
    this.#ports++;
    return port;
  }

  /** Forgets a port without readers, and whatever stood only for it. */
  drop(port: Port): void {
    const { doc, place } = port;
    const at = place.ports.indexOf(port);
    if (at < 0) return;
    place.ports.splice(at, 1);
    doc.ports--;
    if (port.own && --doc.ownPorts === 0) doc.written = undefined;
    this.#ports--;
    prune(place);
    this.release(doc);
  }

  /** Forgets a document that nobody writes, reads or demands. */
  release(doc: DocEntry): void {
    if (doc.ports > 0 || doc.writer !== undefined || doc.demand > 0) return;
    if (this.#docs.get(doc.key) !== doc) return;
    this.#docs.delete(doc.key);
    if (this.#recent === doc) this.#recent = undefined;
  }

  /** Every port of a document. */
  portsOf(doc: DocEntry): Port[] {
    const found: Port[] = [];
    const places = [doc.root];
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      found.push(...place.ports);
      for (const child of place.children?.values() ?? []) places.push(child);
    }
    return found;
  }

  /** The ports whose value or outline a change altered. The list is good until the next call. */
  changed(doc: DocEntry, change: Change): readonly Port[] {
    const hit = this.#hit;
    hit.length = 0;
    const { before, after, paths } = change;
    if (before === after || doc.ports === 0) return hit;
    const { root } = doc;
    if (root.children === undefined) collect(root, before, after, hit);
    else if (paths === undefined || paths.length > MAX_HINTED_PATHS)
      below(root, before, after, hit);
    else for (const path of paths) along(root, path, before, after, hit);
    return hit;
  }
}

/** Whether a change altered what a port shows. */
export function differs(port: Port, change: Change): boolean {
  let { before, after } = change;
  if (port.plain) return !jsonEqual(before, after);
  for (const segment of port.read.path) {
    if (before === after) return false;
    before = at(before, segment);
    after = at(after, segment);
  }
  return !isSame(port, before, after);
}

function child(place: TrieNode, segment: string | number): TrieNode {
  const children = (place.children ??= new Map());
  let next = children.get(segment);
  if (next === undefined) children.set(segment, (next = new TrieNode(segment, place)));
  return next;
}

function prune(from: TrieNode): void {
  let place = from;
  while (place.parent !== undefined && place.ports.length === 0 && !place.children?.size) {
    place.parent.children?.delete(place.segment);
    place = place.parent;
  }
}

type Held = JsonValue | undefined;

/** One step of a path; as `getAt`, without an array for the one segment. */
function at(value: Held, segment: string | number): Held {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    return typeof segment === "number" ? (value as readonly JsonValue[])[segment] : undefined;
  }
  if (typeof segment === "number" || !Object.hasOwn(value, segment)) return undefined;
  return (value as { readonly [key: string]: JsonValue })[segment];
}

function isSame(port: Port, before: Held, after: Held): boolean {
  return port.read.kind === "shape" ? jsonSameShape(before, after) : jsonEqual(before, after);
}

function collect(place: TrieNode, before: Held, after: Held, hit: Port[]): void {
  const { ports } = place;
  for (let i = 0; i < ports.length; i++) {
    const port = ports[i] as Port;
    if (!isSame(port, before, after)) hit.push(port);
  }
}

/** Readers at and below a place; whole branches that are the same object are skipped. */
function below(place: TrieNode, before: Held, after: Held, hit: Port[]): void {
  if (before === after) return;
  collect(place, before, after, hit);
  if (place.children === undefined) return;
  for (const [segment, next] of place.children) {
    below(next, at(before, segment), at(after, segment), hit);
  }
}

/** Readers on the way to a path, and those below its end. */
function along(root: TrieNode, path: Path, before: Held, after: Held, hit: Port[]): void {
  let place: TrieNode | undefined = root;
  let old = before;
  let now = after;
  for (const segment of path) {
    if (old === now) return;
    collect(place, old, now, hit);
    place = place.children?.get(segment);
    if (place === undefined) return;
    old = at(old, segment);
    now = at(now, segment);
  }
  below(place, old, now, hit);
}
