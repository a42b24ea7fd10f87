/** The effectful built-ins (builtins.md "Classes of built-in"). */
export const EFFECTFUL_BUILT_INS = [
  "fetchData",
  "generateText",
  "generateObject",
  "sqliteQuery",
] as const;

/** Which effectful built-in a node is; part of the memo key (seed 001 §4). */
export type BuiltInName = (typeof EFFECTFUL_BUILT_INS)[number];

export function isBuiltInName(name: string): name is BuiltInName {
  return (EFFECTFUL_BUILT_INS as readonly string[]).includes(name);
}
