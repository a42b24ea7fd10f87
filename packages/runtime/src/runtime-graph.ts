import { openSendOrigin, type SendOrigin } from "@tidemark/events";
import {
  docKind,
  parseInstanceKey,
  type ActionId,
  type DocId,
  type InstanceKey,
  type JsonValue,
  type Seq,
} from "@tidemark/protocol";
import type { NodeHandle, NodeSpec, ReadEntry } from "@tidemark/scheduler";
import type {
  GraphEnvironment,
  PieceIdentity,
  RunEnvironment,
  TransientSource,
} from "./piece/environment.js";
import type { RuntimeOptions } from "./runtime-options.js";
import type { TransactionHost } from "./transaction/host.js";
import type { LoggedRead, RuntimeReport } from "./types.js";

/** A runtime's nodes in the scheduler's graph, and what runs need beside it. */
export class RuntimeGraph implements GraphEnvironment {
  readonly host: TransactionHost;
  readonly #options: RuntimeOptions;
  readonly #transients = new Map<InstanceKey, TransientSource>();
  /** Cells of started pieces, and their declared defaults. */
  readonly #initials = new Map<DocId, JsonValue | undefined>();
  readonly #derived = new Map<DocId, NodeHandle>();
  /** Actions whose last run was given up, by the document they wait for. */
  readonly #waiting = new Map<InstanceKey, Set<ActionId>>();
  readonly #handles = new Map<ActionId, NodeHandle>();

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.host = {
      space: options.space,
      view: options.view,
      posture: options.posture,
      pull: (key) => options.scheduler.pull(key),
      transient: (key) => this.#transient(key),
      ensure: (id) => this.#ensure(id),
      initialOf: (id) => this.#initials.get(id),
      isDerived: (id) => this.isDerived(id),
    };
  }

  isDerived(id: DocId): boolean {
    return this.#derived.has(id);
  }

  report(report: RuntimeReport): void {
    this.#options.report?.(report);
  }

  environmentOf(piece: PieceIdentity): RunEnvironment {
    return {
      host: this.host,
      seal: this.#options.seal,
      report: (report) => this.report(report),
      openSendOrigin: (): SendOrigin => openSendOrigin(this.#options.ids),
      durableReads: (reads) => this.#durable(piece, reads),
      waiting: (action, on) => this.#wait(action, on),
    };
  }

  register(spec: NodeSpec, { recover }: { readonly recover: boolean }): NodeHandle {
    const handle = this.#options.scheduler.register(spec);
    this.#handles.set(spec.action, handle);
    const reads = recover ? this.#recovered(spec) : undefined;
    if (reads !== undefined) this.#options.scheduler.subscribeClean(handle, reads);
    return handle;
  }

  unregister(handle: NodeHandle): void {
    if (this.#handles.get(handle.action) === handle) this.#handles.delete(handle.action);
    if (handle.registered) this.#options.scheduler.unregister(handle);
  }

  addTransient(key: InstanceKey, source: TransientSource): void {
    this.#transients.set(key, source);
  }

  removeTransient(key: InstanceKey): void {
    this.#transients.delete(key);
  }

  addDerived(key: InstanceKey, handle: NodeHandle): void {
    this.#derived.set(parseInstanceKey(key).id, handle);
  }

  removeDerived(key: InstanceKey): void {
    this.#derived.delete(parseInstanceKey(key).id);
  }

  addCell(id: DocId, initial: JsonValue | undefined): void {
    this.#initials.set(id, initial);
  }

  removeCell(id: DocId): void {
    this.#initials.delete(id);
  }

  arrived(keys: Iterable<InstanceKey>): void {
    for (const key of keys) {
      const actions = this.#waiting.get(key);
      if (actions === undefined) continue;
      this.#waiting.delete(key);
      for (const action of actions) {
        const handle = this.#handles.get(action);
        if (handle?.registered === true) this.#options.scheduler.rearm(handle);
      }
    }
  }

  #ensure(id: DocId): void {
    const ask = this.#options.ensureOwner;
    if (ask === undefined || docKind(id) !== "node") return;
    if (!this.#initials.has(id) && !this.#derived.has(id)) ask(id);
  }

  #transient(key: InstanceKey): ReturnType<TransactionHost["transient"]> {
    const source = this.#transients.get(key);
    return source === undefined ? undefined : { value: source.value() };
  }

  #wait(action: ActionId, on: InstanceKey | undefined): void {
    if (on === undefined || this.#transients.has(on)) return;
    const actions = this.#waiting.get(on) ?? new Set();
    this.#waiting.set(on, actions.add(action));
  }

  /** What a value in the graph rests on stands in for it; the piece's pointer is an input of all. */
  #durable(piece: PieceIdentity, reads: readonly LoggedRead[]): readonly LoggedRead[] {
    const durable = reads.flatMap((read) => {
      const source = read.space === undefined ? this.#transients.get(read.key) : undefined;
      return source === undefined ? [read] : source.reads();
    });
    const pointer = this.#options.view.read(piece.document);
    const seq = pointer.state === "held" ? pointer.seq : (0 as Seq);
    return [...durable, { key: piece.document, path: ["pattern"], kind: "value", seq }];
  }

  #recovered(spec: NodeSpec): readonly ReadEntry[] | undefined {
    const reads = this.#options.recovered?.(spec.action, spec.instance);
    if (reads === undefined) return undefined;
    const current = reads.every(({ key, seq }) => {
      const state = this.#options.view.read(key);
      return state.state === "held" && state.seq === seq && state.unconfirmed !== true;
    });
    if (!current) return undefined;
    return reads.map(({ key }) => ({ key, path: [], kind: "value" }));
  }
}
