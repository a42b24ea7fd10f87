import { parseArgs } from "node:util";
import { RECORDINGS } from "./recordings.js";

/** What a command line asks for. */
export type ReplayRequest =
  | { readonly kind: "run"; readonly options: ReplayCommand }
  | { readonly kind: "help" }
  | { readonly kind: "invalid"; readonly problem: string };

export interface ReplayCommand {
  /** Names of the recordings to replay. */
  readonly names: readonly string[];
  readonly data: string | undefined;
  /** Transactions of each; undefined: all. */
  readonly prefix: number | undefined;
  readonly kills: number;
  /** Undefined: a new one, printed. */
  readonly seed: number | undefined;
  readonly width: number;
  readonly leaseTtlMs: number;
  readonly json: boolean;
}

const KILLS = 3;
const WIDTH = 64;
const LEASE_TTL_MS = 2_000;
const NAMES = RECORDINGS.map(({ name }) => name as string);

export const HELP = `npm run replay -- [NAME...] [options]

Replays recorded texts as events over WebSocket into a real toolshed process, one event per transaction, while
the server is killed (kill -9) and started again on the way; the text has to come out as it was recorded, and
each event has to be applied once. Memory of the server and of the clients has to stay flat to ± 30 MB.

  NAME          sveltecomponent (one client, events in flight) or friendsforever_flat (two, taking turns); both
  --data PATH   the folder of the recordings, which are not in the repository    TIDEMARK_DATA
  --prefix N    the first N transactions of each
  --kills N     kills of the server, at random points (${KILLS})
  --no-kill     none
  --seed N      chooses the points (a new one each time; it is printed)
  --width N     events of one client in flight (${WIDTH})
  --lease-ms N  how long the lease of a killed server stands in the way of the next (${LEASE_TTL_MS})
  --json        one JSON object for each recording
  --help        this text

Ends with 0 where all came out right, 1 where anything did not, 2 where the data is not there or an option is wrong.`;

/** Reads a command line. Never throws. */
export function readReplayOptions(argv: readonly string[]): ReplayRequest {
  try {
    return read(argv);
  } catch (error) {
    return { kind: "invalid", problem: error instanceof Error ? error.message : String(error) };
  }
}

function read(argv: readonly string[]): ReplayRequest {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      data: { type: "string" },
      prefix: { type: "string" },
      kills: { type: "string" },
      "no-kill": { type: "boolean", default: false },
      seed: { type: "string" },
      width: { type: "string" },
      "lease-ms": { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return { kind: "help" };
  const unknown = positionals.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw new Error(`there is no recording "${unknown}"; there are ${NAMES.join(", ")}`);
  }
  return {
    kind: "run",
    options: {
      names: positionals.length === 0 ? NAMES : positionals,
      data: values.data,
      prefix: whole("--prefix", values.prefix, 1),
      kills: values["no-kill"] ? 0 : (whole("--kills", values.kills, 0) ?? KILLS),
      seed: whole("--seed", values.seed, 0),
      width: whole("--width", values.width, 1) ?? WIDTH,
      leaseTtlMs: whole("--lease-ms", values["lease-ms"], 1) ?? LEASE_TTL_MS,
      json: values.json,
    },
  };
}

function whole(flag: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < least) {
    throw new Error(`${flag} is a whole number of ${least} or more, not "${text}"`);
  }
  return value;
}
