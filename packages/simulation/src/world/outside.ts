import { EffectError } from "@tidemark/executor";
import type { JsonValue } from "@tidemark/protocol";
import { outstanding } from "./inspect.js";
import type { Place } from "./places.js";
import type { ServerProcess } from "./process.js";

/** What answers the requests that leave a world. */
export class Outside {
  readonly #processes: readonly ServerProcess[];
  readonly #failed = new Set<string>();
  /** How many requests were answered. */
  answered = 0;

  constructor(processes: readonly ServerProcess[]) {
    this.#processes = processes;
  }

  /** Answers everything that waits for an answer of an effect: with what is told of the address, or not at all. */
  answer(place: Place, fails: boolean): void {
    for (const performer of outstanding(this.#processes, place)) {
      const [call] = performer.outstanding(place.key);
      if (call === undefined) continue;
      const url = urlOf(call.request);
      this.answered += 1;
      if (!fails) performer.answer(`echo of ${url}`, call);
      else {
        this.#failed.add(`${place.key} ${url}`);
        performer.fail(new EffectError("the host is away", { kind: "network" }), call);
      }
    }
  }

  /** Whether a request of an effect for an address has ever been failed: the failure is its result then. */
  hasFailed({ key }: Place, url: string): boolean {
    return this.#failed.has(`${key} ${url}`);
  }
}

function urlOf(request: JsonValue): string {
  return String((request as { readonly url?: JsonValue }).url);
}
