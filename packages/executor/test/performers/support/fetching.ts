import type { JsonValue } from "@tidemark/protocol";
import { createFetchPerformer, type FetchPerformerOptions } from "../../../src/index.js";
import { asking } from "./calls.js";
import type { LocalServer } from "./local-server.js";
import { WatchedClock } from "./watched-clock.js";

/** A performer that may reach these servers on this machine, and what it looked up. */
export function fetchingFrom(
  servers: readonly LocalServer[],
  options: Partial<FetchPerformerOptions> = {},
) {
  const clock = new WatchedClock();
  const lookedUp: string[] = [];
  const performer = createFetchPerformer({
    clock,
    resolver: async (host) => {
      lookedUp.push(host);
      return ["127.0.0.1"];
    },
    ...options,
    egress: {
      ports: servers.map(({ port }) => port),
      networks: ["127.0.0.1"],
      ...options.egress,
    },
  });
  return { clock, lookedUp, fetch: asking(performer, "fetchData") };
}

/** A request for one URL. */
export function get(url: string, rest: { readonly [field: string]: JsonValue } = {}): JsonValue {
  return { url, ...rest };
}
