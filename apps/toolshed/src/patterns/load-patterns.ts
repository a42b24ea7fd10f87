import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Pattern, PatternRegistry } from "@tidemark/runtime";

/** What a module of patterns gave: its patterns, or what is wrong with it, in words. */
export type LoadedPatterns =
  | { readonly ok: true; readonly patterns: readonly Pattern[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Imports a module and takes its exports as patterns: each is a pattern, or an array of patterns. Never throws.
 *
 * @param known patterns that are served already: two different ones under one durable name are refused (RS-04).
 */
export async function loadPatterns(
  file: string,
  known: readonly Pattern[],
): Promise<LoadedPatterns> {
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(pathToFileURL(resolve(file)).href)) as typeof exported;
  } catch (error) {
    return { ok: false, problem: `--patterns ${file} does not load: ${messageOf(error)}` };
  }
  return collect(file, exported, known);
}

function collect(
  file: string,
  exported: Readonly<Record<string, unknown>>,
  known: readonly Pattern[],
): LoadedPatterns {
  const registry = new PatternRegistry(known);
  const patterns: Pattern[] = [];
  for (const [name, value] of Object.entries(exported)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const problem = isPattern(one) ? register(registry, one) : notAPattern(one);
      if (problem !== undefined) {
        return { ok: false, problem: `--patterns ${file}: its export ${name} ${problem}` };
      }
      patterns.push(one as Pattern);
    }
  }
  if (patterns.length === 0) {
    return { ok: false, problem: `--patterns ${file} exports no pattern` };
  }
  return { ok: true, patterns };
}

/** Builds it once: what fails in every piece fails here, before anybody is served. */
function register(registry: PatternRegistry, pattern: Pattern): string | undefined {
  try {
    pattern.instantiate({ pieceId: "piece:checked" as never });
    registry.register(pattern);
    return undefined;
  } catch (error) {
    return `cannot be served: ${messageOf(error)}`;
  }
}

function notAPattern(value: unknown): string {
  return `is ${value === null ? "null" : `a ${typeof value}`} and no pattern; export what pattern({ id, version, build }) returns`;
}

function isPattern(value: unknown): value is Pattern {
  if (typeof value !== "object" || value === null) return false;
  const { id, version, instantiate, fingerprint } = value as Partial<Pattern>;
  return (
    typeof id === "string" &&
    typeof version === "string" &&
    typeof fingerprint === "string" &&
    typeof instantiate === "function"
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
