import {
  instanceKey,
  SPACE_SCOPE_KEY,
  type ActionId,
  type DocId,
  type InstanceKey,
} from "@tidemark/protocol";
import type { NodeHandle, RunOutcome } from "@tidemark/scheduler";
import { cellHandle, streamHandle } from "../cell/handle.js";
import type { PlainOwner } from "../cell/node-ref.js";
import type { Cell, Readable, Stream } from "../cell/types.js";
import { runDerivation } from "../computed/derivation.js";
import { runEffect } from "../effect/effect-run.js";
import { storedMemo } from "../effect/value.js";
import { runSender } from "../handler/sender-run.js";
import { ListInstance } from "../list/list-instance.js";
import type { HandlerNode, PieceNode } from "../pattern/build-scope.js";
import type { BuiltPattern, Pattern } from "../pattern/pattern.js";
import { actionOf } from "./action.js";
import type { GraphEnvironment, RunEnvironment } from "./environment.js";

/** A running instance of a pattern. */
export interface Piece {
  readonly id: DocId;
  readonly pattern: Pattern;
  /** Handles by the names of the result, then of the nodes; `undefined` for an unknown name. */
  value<T = unknown>(name: string): Readable<T> | undefined;
  /** A cell of its own, for edits. */
  cell<T = unknown>(name: string): Cell<T> | undefined;
  /** A handler's stream. */
  stream<P = unknown>(name: string): Stream<P> | undefined;
  /** Names and kinds of its nodes. */
  readonly nodes: ReadonlyMap<string, PieceNode>;
}

/** A piece's nodes in the graph. Built first, started when it takes over. */
export class PieceInstance implements Piece {
  readonly id: DocId;
  readonly pattern: Pattern;
  readonly #built: BuiltPattern;
  readonly #graph: GraphEnvironment;
  readonly #env: RunEnvironment;
  readonly #owner: PlainOwner;
  readonly #handles: { readonly handle: NodeHandle; readonly output: InstanceKey }[] = [];
  readonly #lists: ListInstance[] = [];

  /** @throws PatternError and whatever else the pattern's `build` throws. */
  constructor(pieceId: DocId, pattern: Pattern, graph: GraphEnvironment, owner: PlainOwner) {
    this.id = pieceId;
    this.pattern = pattern;
    this.#graph = graph;
    this.#owner = owner;
    this.#built = pattern.instantiate({ pieceId, owner });
    this.#env = graph.environmentOf({ document: instanceKey(pieceId, SPACE_SCOPE_KEY) });
  }

  get nodes(): ReadonlyMap<string, PieceNode> {
    return this.#built.nodes;
  }

  get handlers(): readonly HandlerNode[] {
    return [...this.#built.nodes.values()].filter((node) => node.kind === "handler");
  }

  value<T>(name: string): Readable<T> | undefined {
    const shown = this.#built.result.get(name);
    if (shown !== undefined) return shown as unknown as Readable<T>;
    const node = this.#built.nodes.get(name);
    return node === undefined || node.kind === "handler" ? undefined : this.#handleOf(node);
  }

  cell<T>(name: string): Cell<T> | undefined {
    const node = this.#built.nodes.get(name);
    return node?.kind === "cell" ? this.#handleOf<T>(node) : undefined;
  }

  stream<P>(name: string): Stream<P> | undefined {
    const node = this.#built.nodes.get(name);
    if (node?.kind !== "handler") return undefined;
    return streamHandle({ id: node.id, label: this.#label(node) }, { owner: this.#owner });
  }

  start(): void {
    for (const node of this.#built.nodes.values()) this.#startNode(node);
  }

  stop(): void {
    for (const { handle, output } of this.#handles) {
      this.#graph.removeDerived(output);
      this.#graph.unregister(handle);
    }
    for (const node of this.#built.nodes.values()) {
      if (node.kind === "cell") this.#graph.removeCell(node.id);
    }
    for (const list of this.#lists) list.stop();
    this.#handles.length = 0;
    this.#lists.length = 0;
  }

  action(node: Pick<PieceNode, "name">): ActionId {
    return actionOf(this.pattern.id, node.name, this.id);
  }

  #startNode(node: PieceNode): void {
    switch (node.kind) {
      case "cell":
        return this.#graph.addCell(node.id, node.initial);
      case "handler":
        return;
      case "list":
        return this.#startList(node);
      case "computed": {
        const { compute } = node;
        return this.#register(node, (spec) => runDerivation(this.#env, { ...spec, compute }));
      }
      case "sender":
        return this.#register(node, (spec) => runSender(this.#env, node, spec));
      case "effect":
        return this.#register(node, (spec) => runEffect(this.#env, node, spec), {
          recover: this.#isAnswered(node),
        });
    }
  }

  #startList(node: Extract<PieceNode, { kind: "list" }>): void {
    const list = new ListInstance(node, {
      pieceId: this.id,
      patternId: this.pattern.id,
      graph: this.#graph,
      env: this.#env,
    });
    this.#lists.push(list);
    list.start();
  }

  #register(
    node: PieceNode,
    run: (spec: { action: ActionId; label: string; output: InstanceKey }) => RunOutcome,
    options: { readonly recover: boolean } = { recover: true },
  ): void {
    const output = instanceKey(node.id, SPACE_SCOPE_KEY);
    const spec = { action: this.action(node), label: this.#label(node), output };
    const handle = this.#graph.register(
      {
        action: spec.action,
        instance: SPACE_SCOPE_KEY,
        writes: [output],
        run: () => run(spec),
      },
      options,
    );
    this.#handles.push({ handle, output });
    this.#graph.addDerived(output, handle);
  }

  /**
   * Whoever asked may be gone with its process: a node whose answer is not stored looks its key up
   * again, however its inputs stand (seed 001 §6).
   */
  #isAnswered(node: PieceNode): boolean {
    const state = this.#env.host.view.read(instanceKey(node.id, SPACE_SCOPE_KEY));
    if (state.state !== "held" || state.value === undefined) return state.state === "held";
    return storedMemo(state.value)?.settled === true;
  }

  #label(node: PieceNode): string {
    return `${this.pattern.id}/${node.name}`;
  }

  #handleOf<T>(node: Exclude<PieceNode, HandlerNode>): Cell<T> {
    const cell = node.kind === "cell" ? node : undefined;
    return cellHandle<T>({
      id: node.id,
      scope: cell?.scope ?? "space",
      path: [],
      initial: cell?.initial,
      label: this.#label(node),
      writable: cell !== undefined,
      owner: this.#owner,
    });
  }
}
