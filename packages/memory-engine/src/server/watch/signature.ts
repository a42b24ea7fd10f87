import { asLink, type JsonValue } from "@tidemark/protocol";

/**
 * The links of a value with the paths they stand at, as one string; empty for a value without links.
 * Two values with the same signature lead a walk to the same documents, so a change that keeps it
 * needs no new walk: a frame costs what changed, not what is watched.
 */
export function linkSignature(value: JsonValue | undefined): string {
  const found: string[] = [];
  collect(value, "", found);
  return found.join("\n");
}

function collect(value: JsonValue | undefined, path: string, found: string[]): void {
  if (value === null || typeof value !== "object") return;
  const link = asLink(value);
  if (link !== undefined) {
    found.push(`${path}=${JSON.stringify([link.space, link.id, link.scope, link.path])}`);
    return;
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) collect(value[at], `${path}/${at}`, found);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    // Keys are quoted only where they could be mistaken for two steps of the path.
    collect(inner, `${path}/${key.includes("/") ? JSON.stringify(key) : key}`, found);
  }
}
