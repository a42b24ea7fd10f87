import type { InstanceKey, JsonValue } from "@tidemark/protocol";
import type { DispatchedCall, EffectPerformer } from "../effects/performer.js";

interface Open {
  readonly call: DispatchedCall;
  readonly resolve: (value: JsonValue) => void;
  readonly reject: (error: unknown) => void;
}

/** A performer whose answers are given by hand, for tests: it asks nobody, and waits for as long as it takes. */
export class ManualPerformer implements EffectPerformer {
  /** Every call so far, in order. */
  readonly calls: DispatchedCall[] = [];
  readonly #open: Open[] = [];

  perform(call: DispatchedCall): Promise<JsonValue> {
    this.calls.push(call);
    return new Promise((resolve, reject) => {
      const open = { call, resolve, reject };
      this.#open.push(open);
      call.signal.addEventListener("abort", () => {
        this.#remove(open);
        reject(call.signal.reason);
      });
    });
  }

  /** Calls dispatched and not answered, the longest wait first; of one result document, where it is named. */
  outstanding(target?: InstanceKey): readonly DispatchedCall[] {
    return this.#of(target).map(({ call }) => call);
  }

  /** Answers the call that has waited longest, or the one that is given. False where none waits. */
  answer(value: JsonValue, which?: InstanceKey | DispatchedCall): boolean {
    return this.#end(which, (open) => open.resolve(value));
  }

  /** Fails the call that has waited longest, or the one that is given. False where none waits. */
  fail(error: unknown, which?: InstanceKey | DispatchedCall): boolean {
    return this.#end(which, (open) => open.reject(error));
  }

  #end(which: InstanceKey | DispatchedCall | undefined, end: (open: Open) => void): boolean {
    const [open] = this.#of(which);
    if (open === undefined) return false;
    this.#remove(open);
    end(open);
    return true;
  }

  #of(which: InstanceKey | DispatchedCall | undefined): readonly Open[] {
    return this.#open.filter(
      ({ call }) => which === undefined || call === which || call.target === which,
    );
  }

  #remove(open: Open): void {
    const at = this.#open.indexOf(open);
    if (at >= 0) this.#open.splice(at, 1);
  }
}
