import { CycleError } from "../errors.js";
import { algorithm, dropUnread, type GraphNode, type GraphState } from "./graph-state.js";
import { DIRTY, RECURSED, RUNNING, STALE, WATCHING, type Link } from "./node.js";

const { checkDirty } = algorithm;

/** Runs when what it read changed. Effects made during its run belong to it. */
export class EffectNode implements GraphNode {
  flags = WATCHING;
  deps: Link | undefined = undefined;
  depsTail: Link | undefined = undefined;
  subs: Link | undefined = undefined;
  subsTail: Link | undefined = undefined;
  readonly name: string;
  ranInFlush = 0;
  #disposed = false;
  #cleanup: (() => void) | undefined = undefined;
  #children: EffectNode[] | undefined = undefined;
  readonly #graph: GraphState<EffectNode>;
  readonly #run: () => void | (() => void);
  readonly #owner: EffectNode | undefined;

  constructor(graph: GraphState<EffectNode>, run: () => void | (() => void), name: string) {
    this.#graph = graph;
    this.#run = run;
    this.name = name;
    this.#owner = graph.owner;
    if (this.#owner !== undefined) (this.#owner.#children ??= []).push(this);
  }

  update(): boolean {
    return false;
  }

  forget(): void {
    // Nothing reads an effect.
  }

  enqueue(): void {
    this.flags &= ~WATCHING;
    this.#graph.queue.push(this);
  }

  /** The first run. An effect whose first run throws is disposed: nobody holds a way to do it. */
  start(): void {
    const graph = this.#graph;
    graph.depth++;
    try {
      this.#execute();
    } catch (error) {
      this.dispose();
      throw error;
    } finally {
      graph.leave();
    }
  }

  flush(): void {
    if (this.#disposed) return;
    this.#ownersFirst();
    if (this.#disposed || !(this.flags & STALE)) return;
    const dirty = this.flags & DIRTY || (this.deps !== undefined && checkDirty(this.deps, this));
    if (this.#disposed) return;
    if (dirty) this.#execute();
    else this.flags = WATCHING;
  }

  /** An owner that must run again disposes this one, so it goes first; the outermost before the others. */
  #ownersFirst(): void {
    let outermost: EffectNode | undefined;
    for (let owner = this.#owner; owner !== undefined; owner = owner.#owner) {
      if (owner.flags & STALE) outermost = owner;
    }
    outermost?.flush();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.flags = 0;
    this.depsTail = undefined;
    dropUnread(this);
    this.#disposeChildren();
    this.#clean();
  }

  #execute(): void {
    const graph = this.#graph;
    if (++this.ranInFlush > graph.maxRuns) {
      this.flags = WATCHING;
      throw new CycleError([this.name, this.name]);
    }
    this.#disposeChildren();
    this.#cleanOrDispose();
    if (this.#disposed) return;
    const { sub, owner } = graph;
    graph.version++;
    graph.sub = this;
    graph.owner = this;
    graph.running.push(this);
    this.depsTail = undefined;
    this.flags = WATCHING | RUNNING;
    try {
      const cleanup = this.#run();
      if (typeof cleanup === "function") this.#cleanup = cleanup;
    } finally {
      graph.running.pop();
      graph.sub = sub;
      graph.owner = owner;
      this.#finish();
    }
  }

  #finish(): void {
    if (this.#disposed) {
      this.depsTail = undefined;
      dropUnread(this);
      this.#disposeChildren();
      this.#clean();
      return;
    }
    this.flags &= ~(RUNNING | RECURSED);
    dropUnread(this);
    // It wrote what it had read: again, until it comes to rest or runs out of turns.
    if (this.flags & STALE) this.enqueue();
    else this.ranInFlush = this.#graph.depth > 0 ? this.ranInFlush : 0;
  }

  #disposeChildren(): void {
    const children = this.#children;
    if (children === undefined) return;
    this.#children = undefined;
    for (const child of children) child.dispose();
  }

  #cleanOrDispose(): void {
    try {
      this.#clean();
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /** Cleans up outside of every tracking context. */
  #clean(): void {
    const cleanup = this.#cleanup;
    if (cleanup === undefined) return;
    this.#cleanup = undefined;
    const graph = this.#graph;
    const { sub, owner } = graph;
    graph.sub = undefined;
    graph.owner = undefined;
    graph.depth++;
    try {
      cleanup();
    } finally {
      graph.sub = sub;
      graph.owner = owner;
      graph.leave();
    }
  }
}
