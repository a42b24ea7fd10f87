import {
  CHECKING,
  DIRTY,
  MUTABLE,
  PENDING,
  RECURSED,
  RUNNING,
  WATCHING,
  type Link,
  type ReactiveNode,
} from "./node.js";

/** What a graph built on the algorithm has to say about its nodes. */
export interface AlgorithmHooks {
  /** Brings a dirty node up to date; says whether its value changed. Must not throw. */
  update(node: ReactiveNode): boolean;
  /** A watched node was marked. */
  notify(node: ReactiveNode): void;
  /** The node lost its last subscriber. */
  unwatched(node: ReactiveNode): void;
}

/** Marking, checking and linking over {@link ReactiveNode}s; holds no state but its scratch stacks. */
export interface Algorithm {
  /** Records that `sub` reads `dep`; the new edge, or undefined where it stood already. */
  link(dep: ReactiveNode, sub: ReactiveNode, version: number): Link | undefined;
  /** Removes an edge; returns the next one in the dependency list. */
  unlink(link: Link): Link | undefined;
  /** Marks every transitive subscriber from this edge on as PENDING. */
  propagate(link: Link): void;
  /** Turns PENDING direct subscribers from this edge on into DIRTY. */
  shallowPropagate(link: Link): void;
  /** Whether a PENDING node must run: brings its dependencies up to date in the order they were read. */
  checkDirty(link: Link, sub: ReactiveNode): boolean;
}

/**
 * Push-pull propagation over doubly linked edges, after the published algorithm of alien-signals: marks travel
 * down as flags, values are pulled up in read order, an unchanged value stops both. Nothing recurses and nothing
 * allocates but the edges, so a chain of any depth fits the stack.
 */
export function createAlgorithm(hooks: AlgorithmHooks): Algorithm {
  const { update, notify, unwatched } = hooks;
  // One stack for all calls: a nested call works above `base` and leaves what is below alone.
  const marks: (Link | undefined)[] = [];
  let marksTop = 0;
  const checks: (Link | undefined)[] = [];
  let checksTop = 0;

  function link(dep: ReactiveNode, sub: ReactiveNode, version: number): Link | undefined {
    const prevDep = sub.depsTail;
    if (prevDep !== undefined && prevDep.dep === dep) return undefined;
    const nextDep = prevDep !== undefined ? prevDep.nextDep : sub.deps;
    if (nextDep !== undefined && nextDep.dep === dep) {
      nextDep.version = version;
      sub.depsTail = nextDep;
      return undefined;
    }
    const prevSub = dep.subsTail;
    if (prevSub !== undefined && prevSub.version === version && prevSub.sub === sub)
      return undefined;
    const created: Link = { version, dep, sub, prevSub, nextSub: undefined, prevDep, nextDep };
    sub.depsTail = created;
    dep.subsTail = created;
    if (nextDep !== undefined) nextDep.prevDep = created;
    if (prevDep !== undefined) prevDep.nextDep = created;
    else sub.deps = created;
    if (prevSub !== undefined) prevSub.nextSub = created;
    else dep.subs = created;
    return created;
  }

  function unlink(edge: Link): Link | undefined {
    const { dep, sub, prevDep, nextDep, prevSub, nextSub } = edge;
    if (nextDep !== undefined) nextDep.prevDep = prevDep;
    else sub.depsTail = prevDep;
    if (prevDep !== undefined) prevDep.nextDep = nextDep;
    else sub.deps = nextDep;
    if (nextSub !== undefined) nextSub.prevSub = prevSub;
    else dep.subsTail = prevSub;
    if (prevSub !== undefined) prevSub.nextSub = nextSub;
    else if ((dep.subs = nextSub) === undefined) unwatched(dep);
    // An old dead edge that points at young ones would keep them through every minor collection. `nextDep` stays: a
    // check under way may still have to step past this edge.
    edge.prevSub = edge.nextSub = edge.prevDep = undefined;
    return nextDep;
  }

  function propagate(edge: Link): void {
    const base = marksTop;
    let current = edge;
    let next = edge.nextSub;
    for (;;) {
      const below = mark(current);
      if (below !== undefined) {
        if (next !== undefined) marks[marksTop++] = next;
        current = below;
        next = below.nextSub;
        continue;
      }
      if (next === undefined) {
        if (marksTop === base) return;
        next = marks[--marksTop];
        marks[marksTop] = undefined;
      }
      // A stacked entry is never undefined: it was pushed as a link.
      current = next as Link;
      next = current.nextSub;
    }
  }

  /** Marks one subscriber; the edge to descend to, if marks must travel on. */
  function mark(edge: Link): Link | undefined {
    const sub = edge.sub;
    const flags = sub.flags;
    if (!(flags & (RUNNING | RECURSED | DIRTY | PENDING))) {
      sub.flags = flags | PENDING;
    } else if (!(flags & (RUNNING | RECURSED))) {
      return undefined;
    } else if (!(flags & RUNNING)) {
      sub.flags = (flags & ~RECURSED) | PENDING;
    } else if (!(flags & (DIRTY | PENDING)) && wasReadAlready(edge, sub)) {
      sub.flags = flags | (RECURSED | PENDING);
      return flags & MUTABLE ? sub.subs : undefined;
    } else {
      return undefined;
    }
    if (flags & WATCHING) notify(sub);
    return flags & MUTABLE ? sub.subs : undefined;
  }

  function shallowPropagate(edge: Link): void {
    let current: Link | undefined = edge;
    do {
      const sub: ReactiveNode = current.sub;
      const flags = sub.flags;
      if ((flags & (PENDING | DIRTY)) === PENDING) {
        sub.flags = flags | DIRTY;
        if ((flags & (WATCHING | RUNNING)) === WATCHING) notify(sub);
      }
    } while ((current = current.nextSub) !== undefined);
  }

  /** Updates `dep` on behalf of `asker` and tells whoever else reads it. */
  function refresh(dep: ReactiveNode, asker: ReactiveNode): boolean {
    if (!update(dep)) return false;
    // The asker may have been disposed by the very update, so the one subscriber left need not be it.
    const subs = dep.subs;
    if (subs !== undefined && (subs.nextSub !== undefined || subs.sub !== asker))
      shallowPropagate(subs);
    return true;
  }

  function checkDirty(edge: Link, root: ReactiveNode): boolean {
    const base = checksTop;
    let current = edge;
    let sub = root;
    let dirty = false;
    for (;;) {
      const dep = current.dep;
      const flags = dep.flags;
      if (sub.flags & DIRTY || flags & (RUNNING | CHECKING)) {
        // A dependency that is itself being settled closes a cycle: running the node is what reports it.
        dirty = true;
      } else if ((flags & (MUTABLE | DIRTY)) === (MUTABLE | DIRTY)) {
        dirty = refresh(dep, sub);
      } else if ((flags & (MUTABLE | PENDING)) === (MUTABLE | PENDING) && dep.deps !== undefined) {
        checks[checksTop++] = current;
        dep.flags = flags | CHECKING;
        current = dep.deps;
        sub = dep;
        continue;
      }
      while ((dirty || current.nextDep === undefined) && checksTop > base) {
        // The slot below the top was filled by the descent above.
        current = checks[--checksTop] as Link;
        checks[checksTop] = undefined;
        sub.flags &= ~CHECKING;
        if (dirty) dirty = refresh(sub, current.sub);
        else sub.flags &= ~PENDING;
        sub = current.sub;
      }
      if (dirty || current.nextDep === undefined) return dirty;
      current = current.nextDep;
    }
  }

  return { link, unlink, propagate, shallowPropagate, checkDirty };
}

/** Whether the running node has read this edge in its present run, rather than in the one before. */
function wasReadAlready(edge: Link, sub: ReactiveNode): boolean {
  let link = sub.depsTail;
  while (link !== undefined) {
    if (link === edge) return true;
    link = link.prevDep;
  }
  return false;
}
