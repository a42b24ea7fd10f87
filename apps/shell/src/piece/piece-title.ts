import type { Meta } from "../meta/meta.js";
import { spoken } from "../form/schema.js";

/** The name and version of a pattern. */
export interface PatternName {
  readonly id: string;
  readonly version: string;
}

/** What a piece is called: by its argument, else by its pattern. */
export function pieceTitle(document: unknown, meta: Meta | undefined): string {
  const { argument, pattern } = (document ?? {}) as {
    readonly argument?: { readonly title?: unknown } | null;
    readonly pattern?: PatternName;
  };
  const title = argument?.title;
  return typeof title === "string" && title.trim() !== "" ? title : patternTitle(pattern, meta);
}

/** What a pattern is called. */
export function patternTitle(pattern: PatternName | undefined, meta: Meta | undefined): string {
  if (pattern === undefined) return "Something of an unknown kind";
  const known = meta?.patterns.find(
    ({ id, version }) => id === pattern.id && version === pattern.version,
  );
  return known?.title ?? spoken(pattern.id);
}
