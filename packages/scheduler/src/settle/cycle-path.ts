import { CycleError } from "../errors.js";
import type { ActionNode } from "../run/action-node.js";

/** The nodes of one cycle through `start`, in the order in which each feeds the next; undefined when there is none. */
export function cycleThrough(start: ActionNode): ActionNode[] | undefined {
  const cameFrom = new Map<ActionNode, ActionNode>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const reader of readersOf(node)) {
      if (reader === start) return trace(start, node, cameFrom);
      if (cameFrom.has(reader)) continue;
      cameFrom.set(reader, node);
      open.push(reader);
    }
  }
  return undefined;
}

/** The path as an error reads: each member needs the next. */
export function cycleError(members: readonly ActionNode[]): CycleError {
  const needs: string[] = [];
  for (const member of members) needs.unshift(member.name);
  return new CycleError([...needs, needs[0] ?? "?"]);
}

/** The same for the same members, whichever of them was met first. */
export function cycleKey(members: Iterable<ActionNode>): string {
  const names = Array.from(members, (node) => node.name);
  names.sort();
  return names.join("\n");
}

function* readersOf(node: ActionNode): Iterable<ActionNode> {
  for (let port = node.ports; port !== undefined; port = port.nextPort) {
    for (let edge = port.subs; edge !== undefined; edge = edge.nextSub) {
      yield edge.reader;
    }
  }
}

function trace(
  start: ActionNode,
  last: ActionNode,
  cameFrom: ReadonlyMap<ActionNode, ActionNode>,
): ActionNode[] {
  const members: ActionNode[] = [];
  let node: ActionNode | undefined = last;
  while (node !== undefined && node !== start) {
    members.unshift(node);
    node = cameFrom.get(node);
  }
  return [start, ...members];
}
