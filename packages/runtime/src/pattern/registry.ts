import { UnknownPatternError } from "@tidemark/protocol";
import { PatternError } from "../errors.js";
import type { Pattern } from "./pattern.js";

/**
 * The patterns a process runs. Pieces name them by id and version, so one name means one pattern: a
 * second, different one is refused at registration, never chosen by import order (RS-04).
 */
export class PatternRegistry {
  readonly #patterns = new Map<string, Pattern>();

  constructor(patterns: Iterable<Pattern> = []) {
    for (const one of patterns) this.register(one);
  }

  /**
   * Adds a pattern. The same one again (a module loaded twice) is fine; the first stays.
   *
   * @throws PatternError when another pattern has the id and version.
   */
  register(pattern: Pattern): void {
    const name = nameOf(pattern.id, pattern.version);
    const known = this.#patterns.get(name);
    if (known === undefined) {
      this.#patterns.set(name, pattern);
      return;
    }
    if (known === pattern || known.fingerprint === pattern.fingerprint) return;
    const message = `another pattern ${pattern.id} version ${pattern.version} is registered already; give the changed one a new version`;
    throw new PatternError(message, { patternId: pattern.id, version: pattern.version });
  }

  find(id: string, version: string): Pattern | undefined {
    return this.#patterns.get(nameOf(id, version));
  }

  /** @throws UnknownPatternError where nothing is registered under the name. */
  get(id: string, version: string): Pattern {
    const found = this.find(id, version);
    if (found !== undefined) return found;
    const message = `no pattern ${id} version ${version} is registered in this process`;
    throw new UnknownPatternError(message, { patternId: id, version });
  }

  all(): readonly Pattern[] {
    return [...this.#patterns.values()];
  }
}

/** A space cannot be part of either, so the pair cannot be read two ways. */
function nameOf(id: string, version: string): string {
  return `${id} ${version}`;
}
