import {
  parseInstanceKey,
  scopeKindOf,
  walkSelector,
  type Actor,
  type Held,
  type InstanceKey,
  type Selector,
  type SpaceId,
  type WalkLimits,
} from "@tidemark/protocol";

/** How the server sees an instance: always held, present or absent. */
export type ReadInstance = (key: InstanceKey) => Held;

/** What every walk of one space shares. */
export interface WalkContext {
  readonly space: SpaceId;
  readonly limits: WalkLimits;
}

/** The instances that a selector reaches from a root for one actor, the root first (protocol.md §4). */
export function walkRoot(
  root: InstanceKey,
  selector: Selector,
  actor: Actor,
  read: ReadInstance,
  context: WalkContext,
): ReadonlySet<InstanceKey> {
  const reached = new Set<InstanceKey>();
  const { id, scopeKey } = parseInstanceKey(root);
  walkSelector(
    {
      root: { id, scope: scopeKindOf(scopeKey) },
      selector,
      actor,
      space: context.space,
      read,
      track: (key) => void reached.add(key),
    },
    context.limits,
  );
  return reached;
}
