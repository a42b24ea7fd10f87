import { listNodes, type Pattern } from "@tidemark/runtime";

/** The patterns of a server with their nodes and schemas, for clients that have no module of them. */
export function describePatterns(patterns: readonly Pattern[]) {
  return patterns.map((pattern) => ({
    id: pattern.id,
    version: pattern.version,
    title: pattern.title ?? pattern.id,
    description: pattern.description ?? null,
    nodes: listNodes(pattern),
  }));
}
