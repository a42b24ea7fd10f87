/**
 * The two records every graph here is made of. A node knows its dependencies and its subscribers as
 * doubly linked lists of edges, so adding and dropping an edge never searches and never allocates a set.
 */
export interface ReactiveNode {
  flags: number;
  deps: Link | undefined;
  depsTail: Link | undefined;
  subs: Link | undefined;
  subsTail: Link | undefined;
}

/** One edge: `sub` read `dep`. It stands in the subscriber list of `dep` and in the dependency list of `sub`. */
export interface Link {
  version: number;
  dep: ReactiveNode;
  sub: ReactiveNode;
  prevSub: Link | undefined;
  nextSub: Link | undefined;
  prevDep: Link | undefined;
  nextDep: Link | undefined;
}

/** The node has a value that others may depend on. */
export const MUTABLE = 1;
/** Somebody waits for the node: marking it calls `notify`. */
export const WATCHING = 2;
/** The node is running; a mark that reaches it now is its own doing or arrives late. */
export const RUNNING = 4;
/** A mark must be let through although the node already carries one. */
export const RECURSED = 8;
/** The node's own input changed: it must run. */
export const DIRTY = 16;
/** Something upstream may have changed: ask before running. */
export const PENDING = 32;
/** The node stands on the path of a running check; meeting it again means a cycle. */
export const CHECKING = 64;

export const STALE = DIRTY | PENDING;
