import { ConnectionError } from "@tidemark/protocol";
import type { Observable } from "./observable.js";
import type { ConnectionStatus } from "./status.js";

/** Resolves once the status says online; rejects once no attempt is under way or planned. */
export function whenOnline(status: Observable<ConnectionStatus>): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = false;
    let end: (() => void) | undefined;
    const settle = (finish: () => void): void => {
      done = true;
      end?.();
      finish();
    };
    end = status.subscribe((now) => {
      if (done) return;
      if (now.state === "online") settle(resolve);
      else if (now.state === "offline" || now.state === "stopped")
        settle(() => reject(whyNot(now)));
    });
    // The present status may have settled it before there was anything to end.
    if (done) end();
  });
}

function whyNot({ state, reason, error }: ConnectionStatus): Error {
  const why = reason === undefined ? "" : `: ${reason}`;
  return error ?? new ConnectionError(`the client is ${state}${why}; call reconnect() first`);
}
