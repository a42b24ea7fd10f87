import type { DocId } from "@tidemark/protocol";
import { type Pattern, PatternRegistry } from "@tidemark/runtime";
import { buildPattern, type HandlerWatch, type PatternHost } from "../pattern/build-pattern.js";
import type { Scenario } from "../scenario/file.js";
import type { Places } from "./places.js";

/** Makes the patterns of a file, for each runtime its own: counters and posture are a runtime's. */
export class WorldPatterns {
  readonly #scenario: Scenario;
  readonly #places: Places;
  readonly #spend: (ms: number) => void;
  readonly #waits = new Map<string, (() => void)[]>();

  constructor(scenario: Scenario, places: Places, spend: (ms: number) => void) {
    this.#scenario = scenario;
    this.#places = places;
    this.#spend = spend;
  }

  /** For a server process: runs spend virtual time and wait where the file says so, and are told to who watches. */
  forServer(watch?: HandlerWatch): PatternRegistry {
    const posture = { busy: this.#spend, waitFor: (name: string) => this.#waitFor(name) };
    return this.#registry(watch === undefined ? posture : { ...posture, watch });
  }

  /** For a client: its runs spend no time and wait for nothing. */
  forClient(): PatternRegistry {
    return this.#registry({ busy: () => undefined, waitFor: () => undefined });
  }

  /** Releases the handlers that wait under a name now. */
  let(name: string): void {
    const waiting = this.#waits.get(name) ?? [];
    this.#waits.delete(name);
    for (const resolve of waiting) resolve();
  }

  #registry(posture: Pick<PatternHost, "busy" | "waitFor" | "watch">): PatternRegistry {
    const registry = new PatternRegistry();
    const built = new Map<string, Pattern>();
    const host: PatternHost = {
      ...posture,
      resolve: (address) => this.#places.link(address),
      streamLink: (address) => this.#places.streamLink(address),
      grantee: (user) => this.#places.grantee(user),
      pattern: (name) => built.get(name) ?? build(name),
      pieceCreated: (name, pattern, id) => this.#pieceCreated(name, pattern, id as DocId),
    };
    const build = (name: string): Pattern => {
      const pattern = buildPattern(name, this.#places.patternFile(name), host);
      built.set(name, pattern);
      return pattern;
    };
    for (const name of Object.keys(this.#scenario.patterns)) registry.register(build(name));
    return registry;
  }

  #pieceCreated(name: string, pattern: string, id: DocId): void {
    // A handler's piece stands in the space of the piece that handled; files use one space for it.
    const [space = ""] = this.#places.spaceNames;
    this.#places.addPiece(space, name, pattern, id);
  }

  #waitFor(name: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waits.set(name, [...(this.#waits.get(name) ?? []), resolve]);
    });
  }
}
