import {
  touchedPaths,
  instanceKey,
  type AcceptedCommit,
  type InstanceKey,
  type LayeredView,
  type Path,
} from "@tidemark/protocol";
import type { Change } from "@tidemark/scheduler";
import type { Replica } from "../replica/replica.js";

/** Moves the replica and says what visibly moved with it: the frame barrier (R25). */
export function moveReplica(
  replica: Replica,
  view: LayeredView,
  commits: readonly AcceptedCommit[],
  isOwn: (commit: AcceptedCommit) => boolean,
): readonly Change[] {
  const touched = [...replica.touchedBy(commits)];
  const before = touched.map((key) => view.get(key)?.value);
  replica.apply(commits);
  const paths = pathsTouched(
    commits.filter((commit) => !isOwn(commit)),
    new Set(touched),
  );
  return touched.flatMap((key, at) => {
    const was = before[at];
    const after = view.get(key)?.value;
    if (was === after) return [];
    const where = paths.get(key);
    return [{ key, before: was, after, ...(where === undefined ? {} : { paths: where }) }];
  });
}

/** Where each instance may differ: spares the scheduler a comparison of the rest. */
function pathsTouched(
  commits: readonly AcceptedCommit[],
  keys: ReadonlySet<InstanceKey>,
): ReadonlyMap<InstanceKey, readonly Path[]> {
  const paths = new Map<InstanceKey, Path[]>();
  for (const commit of commits) {
    for (const change of commit.changes) {
      const key = instanceKey(change.id, change.scopeKey);
      if (!keys.has(key)) continue;
      const known = paths.get(key);
      if (known === undefined) paths.set(key, [...touchedPaths(change.op)]);
      else for (const path of touchedPaths(change.op)) known.push(path);
    }
  }
  return paths;
}
