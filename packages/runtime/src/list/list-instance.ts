import {
  contentHash,
  getAt,
  instanceKey,
  nodeIdFor,
  SPACE_SCOPE_KEY,
  type DocId,
  type InstanceKey,
  type JsonValue,
} from "@tidemark/protocol";
import type { Change, NodeHandle, RunOutcome } from "@tidemark/scheduler";
import { cellHandle } from "../cell/handle.js";
import type { NodeRef } from "../cell/node-ref.js";
import { runDerivation } from "../computed/derivation.js";
import type { ListNode } from "../pattern/build-scope.js";
import { actionOf } from "../piece/action.js";
import type { GraphEnvironment, RunEnvironment, TransientSource } from "../piece/environment.js";
import type { Transaction } from "../transaction/transaction.js";
import type { LoggedRead } from "../types.js";
import { elementsOf, type Elements } from "./elements.js";

/** A child: its place in the graph, and its document. */
interface Child {
  readonly handle: NodeHandle;
  readonly output: InstanceKey;
}

/** Where a list belongs. */
export interface ListPlace {
  readonly pieceId: DocId;
  readonly patternId: string;
  readonly graph: GraphEnvironment;
  readonly env: RunEnvironment;
}

const MAX_KEY_IN_NAME = 64;

const NOTHING: Elements = { order: [], items: {} };

/**
 * A list in the graph, as three kinds of node.
 *
 * - *elements* reads the list and takes it apart by identity. Its value lives in the graph alone, so
 *   that a child reads its element by identity and a neighbour's change is none of its inputs. It
 *   makes and removes the children, and stores their identities, so that after a restart the
 *   documents of removed ones are still found.
 * - one *child* per element runs the pattern's code and writes its own document.
 * - *rows* reads the order and the children's documents and writes the list's value.
 */
export class ListInstance implements TransientSource {
  readonly #node: ListNode;
  readonly #place: ListPlace;
  readonly #orderKey: InstanceKey;
  readonly #elementsRef: NodeRef;
  readonly #elementsKey: InstanceKey;
  readonly #children = new Map<string, Child>();
  /** Addresses of children: each costs a hash, and rows asks for all of them in every run. */
  readonly #childRefs = new Map<string, NodeRef>();
  #elements: Elements | undefined;
  #reads: readonly LoggedRead[] = [];
  #handles: readonly NodeHandle[] = [];
  #elementsHandle: NodeHandle | undefined;

  constructor(node: ListNode, place: ListPlace) {
    this.#node = node;
    this.#place = place;
    this.#orderKey = spaceKey(nodeIdFor(place.pieceId, `${node.name}#order`));
    const elementsId = `elements:${node.id}` as DocId;
    this.#elementsKey = spaceKey(elementsId);
    this.#elementsRef = {
      id: elementsId,
      scope: "space",
      path: [],
      label: `${place.patternId}/${node.name} elements`,
      writable: false,
    };
  }

  start(): void {
    const { graph } = this.#place;
    graph.addTransient(this.#elementsKey, this);
    // Never recovered as current: what it holds is in memory alone.
    this.#elementsHandle = graph.register(
      {
        action: this.#action("#order"),
        instance: SPACE_SCOPE_KEY,
        writes: [this.#orderKey, this.#elementsKey],
        run: () => this.#runElements(),
      },
      { recover: false },
    );
    const output = spaceKey(this.#node.id);
    const rows = graph.register(
      {
        action: this.#action(""),
        instance: SPACE_SCOPE_KEY,
        writes: [output],
        run: () => this.#runRows(output),
      },
      { recover: true },
    );
    this.#handles = [this.#elementsHandle, rows];
    graph.addDerived(this.#orderKey, this.#elementsHandle);
    graph.addDerived(output, rows);
  }

  stop(): void {
    const { graph } = this.#place;
    for (const key of this.#children.keys()) this.#release(key);
    for (const handle of this.#handles) graph.unregister(handle);
    graph.removeTransient(this.#elementsKey);
    graph.removeDerived(this.#orderKey);
    graph.removeDerived(spaceKey(this.#node.id));
  }

  // TransientSource

  value(): JsonValue | undefined {
    return this.#elements === undefined ? undefined : asJson(this.#elements);
  }

  reads(): readonly LoggedRead[] {
    return this.#reads;
  }

  // Runs

  #runElements(): RunOutcome {
    let next = NOTHING;
    const spec = {
      action: this.#action("#order"),
      label: `${this.#label()} (its list)`,
      output: this.#orderKey,
      compute: () => {
        next = elementsOf(this.#node.over(), this.#node.keyOf);
        return { order: next.order };
      },
    };
    return runDerivation(this.#place.env, spec, (tx) => {
      const gone = this.#missingFrom(next);
      for (const key of gone) this.#deleteDocument(tx, key);
      const change: Change = { key: this.#elementsKey, before: this.value(), after: asJson(next) };
      const accepted = (): void => {
        this.#reads = tx.reads;
        this.#elements = next;
        for (const key of gone) this.#release(key);
        for (const key of next.order) this.#ensure(key);
      };
      return { changes: [change], accepted };
    });
  }

  #runRows(output: InstanceKey): RunOutcome {
    const { env } = this.#place;
    const spec = { action: this.#action(""), label: this.#label(), output };
    return runDerivation(env, { ...spec, compute: (tx) => this.#assemble(tx) });
  }

  #assemble(tx: Transaction): JsonValue {
    const order = (tx.get(at(this.#elementsRef, ["order"])) ?? []) as readonly string[];
    const rows = order.map((key) => [key, tx.get(this.#childRef(key)) ?? null] as const);
    switch (this.#node.form) {
      case "map":
        return rows.map(([, row]) => row);
      case "filter":
        return rows
          .filter(([, row]) => Boolean(row))
          .map(([key]) => tx.get(at(this.#elementsRef, ["items", key])) ?? null);
      case "flatMap":
        return rows.flatMap(([, row]) => (Array.isArray(row) ? (row as JsonValue[]) : [row]));
    }
  }

  // Children

  #ensure(key: string): void {
    if (this.#children.has(key)) return;
    const { graph, env } = this.#place;
    const output = spaceKey(this.#childRef(key).id);
    const element = cellHandle<never>(at(this.#elementsRef, ["items", key]));
    const spec = {
      action: this.#action(childName(key)),
      label: `${this.#label()}[${key}]`,
      output,
      compute: () => this.#node.item(element, { key }),
    };
    const parent = this.#elementsHandle;
    const handle = graph.register(
      {
        action: spec.action,
        instance: SPACE_SCOPE_KEY,
        writes: [output],
        run: () => runDerivation(env, spec),
        ...(parent === undefined ? {} : { parent }),
      },
      { recover: true },
    );
    this.#children.set(key, { handle, output });
    graph.addDerived(output, handle);
  }

  /** Identities that are no longer there, those of an earlier process included. */
  #missingFrom(next: Elements): ReadonlySet<string> {
    const gone = new Set([...this.#children.keys(), ...this.#storedOrder()]);
    for (const key of next.order) gone.delete(key);
    return gone;
  }

  #deleteDocument(tx: Transaction, key: string): void {
    const output = spaceKey(this.#childRef(key).id);
    const shown = this.#place.env.host.view.read(output);
    if (shown.state === "held" && shown.value === undefined) return;
    tx.output(output, { op: "delete" });
  }

  #release(key: string): void {
    this.#childRefs.delete(key);
    const child = this.#children.get(key);
    if (child === undefined) return;
    this.#children.delete(key);
    this.#place.graph.removeDerived(child.output);
    if (child.handle.registered) this.#place.graph.unregister(child.handle);
  }

  #storedOrder(): readonly string[] {
    const stored = this.#place.env.host.view.read(this.#orderKey);
    const order = stored.state === "held" ? getAt(stored.value, ["order"]) : undefined;
    return Array.isArray(order) ? order.filter((key) => typeof key === "string") : [];
  }

  #childRef(key: string): NodeRef {
    const known = this.#childRefs.get(key);
    if (known !== undefined) return known;
    const id = nodeIdFor(this.#place.pieceId, this.#node.name + childName(key));
    const label = `${this.#label()}[${key}]`;
    const ref = { id, scope: "space", path: [], label, writable: false } as const;
    this.#childRefs.set(key, ref);
    return ref;
  }

  #label(): string {
    return `${this.#place.patternId}/${this.#node.name}`;
  }

  #action(suffix: string): ReturnType<typeof actionOf> {
    return actionOf(this.#place.patternId, this.#node.name + suffix, this.#place.pieceId);
  }
}

/** Identities come from data: a long one is named by its hash. */
function childName(key: string): string {
  return `[${key.length > MAX_KEY_IN_NAME ? contentHash(key) : key}]`;
}

function asJson(elements: Elements): JsonValue {
  return elements as unknown as JsonValue;
}

function at(ref: NodeRef, path: NodeRef["path"]): NodeRef {
  return { ...ref, path };
}

function spaceKey(id: DocId): InstanceKey {
  return instanceKey(id, SPACE_SCOPE_KEY);
}
