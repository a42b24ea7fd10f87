import type { ActionNode } from "../run/action-node.js";
import type { Port } from "../trigger/port.js";

/** `reader` read `port`. It stands in the reader list of the port and in the dependency list of the reader. */
export interface Edge {
  readonly port: Port;
  readonly reader: ActionNode;
  nextDep: Edge | undefined;
  nextSub: Edge | undefined;
  prevDep: Edge | undefined;
  prevSub: Edge | undefined;
  /** The relink that read it last, where that had to look reads up. */
  version: number;
}

/** Records that `reader` reads `port`, behind its `depsTail`; the new edge, or undefined where it stood already. */
export function link(port: Port, reader: ActionNode, version: number): Edge | undefined {
  const prevDep = reader.depsTail;
  if (prevDep !== undefined && prevDep.port === port) return undefined;
  const nextDep = prevDep !== undefined ? prevDep.nextDep : reader.deps;
  if (nextDep !== undefined && nextDep.port === port) {
    nextDep.version = version;
    reader.depsTail = nextDep;
    return undefined;
  }
  const prevSub = port.subsTail;
  if (prevSub !== undefined && prevSub.version === version && prevSub.reader === reader)
    return undefined;
  const created: Edge = { port, reader, nextDep, nextSub: undefined, prevDep, prevSub, version };
  reader.depsTail = created;
  port.subsTail = created;
  if (nextDep !== undefined) nextDep.prevDep = created;
  if (prevDep !== undefined) prevDep.nextDep = created;
  else reader.deps = created;
  if (prevSub !== undefined) prevSub.nextSub = created;
  else port.subs = created;
  return created;
}

/** Removes an edge; returns the next one in the dependency list. */
export function unlink(edge: Edge): Edge | undefined {
  const { port, reader, prevDep, nextDep, prevSub, nextSub } = edge;
  if (nextDep !== undefined) nextDep.prevDep = prevDep;
  else reader.depsTail = prevDep;
  if (prevDep !== undefined) prevDep.nextDep = nextDep;
  else reader.deps = nextDep;
  if (nextSub !== undefined) nextSub.prevSub = prevSub;
  else port.subsTail = prevSub;
  if (prevSub !== undefined) prevSub.nextSub = nextSub;
  else port.subs = nextSub;
  // An old dead edge that points at young ones would keep them through every minor collection. `nextDep` stays: a
  // walk under way may still have to step past this edge.
  edge.prevSub = edge.nextSub = edge.prevDep = undefined;
  return nextDep;
}
