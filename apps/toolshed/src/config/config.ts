import { parseArgs } from "node:util";
import { readEgressSettings } from "@tidemark/executor";
import { z } from "zod";
import { type EffectsConfig, readEffectsConfig } from "./effects-config.js";

/** How toolshed is run. Every option is a flag and an environment variable; the flag wins. */
export interface ToolshedConfig {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly dataDir: string;
  /** A module whose exports are patterns, beside the built-in ones. */
  readonly patterns: string | undefined;
  readonly durability: "normal" | "full";
  /** T_flush, ms (seed 001 §3). */
  readonly flushDeadlineMs: number;
  /** How long a lease lasts without a renewal, ms (seed 001 §2): what a standby waits for at most. */
  readonly leaseTtlMs: number;
  /** How long the runtime of a space that parked idle is kept, ms; 0: not at all (seed 001 §1, Parking). */
  readonly parkedRuntimeRetentionMs: number;
  /** What the feed reports is read from the store again (seed 001 §1, plane (a)). */
  readonly storeReadThrough: boolean;
  /** Budget of a space's effects (seed 001 §5); 0: none. */
  readonly maxOutstandingEffects: number;
  readonly egressRatePerSecond: number;
  readonly effects: EffectsConfig;
  readonly demo: boolean;
}

/** What a command line asks for. */
export type ConfigRequest =
  | { readonly kind: "run"; readonly config: ToolshedConfig; readonly warnings: readonly string[] }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const DEFAULT_FLUSH_DEADLINE_MS = 100;
const DEFAULT_LEASE_TTL_MS = 15_000;
const DEFAULT_RETENTION_MS = 600_000;
const RETENTION = "SERVER_EXECUTION_PARKED_RUNTIME_RETENTION_MS";

const HELP = `toolshed: a Tidemark server on an embedded store

  --port N             port to listen on, 0 for a free one        PORT          (8000)
  --host ADDRESS       address to listen on                       HOST          (127.0.0.1)
  --data-dir PATH      where the stores and the demo's keys are   DATA_DIR      (.tidemark)
  --patterns FILE      a module that exports patterns to serve    PATTERNS
  --durability CLASS   normal survives a killed process, full     DURABILITY    (normal)
                       survives a loss of power
  --no-demo            no demo space                              DEMO=false
  --help               this text

A variable of these that is there and empty is refused; leave it out for what stands in parentheses.

Two processes may share a data folder: each space is served by the one that holds its lease, the other
stands by. SERVER_EXECUTION_FLUSH_DEADLINE_MS tunes how long a wave may run before it is flushed (${DEFAULT_FLUSH_DEADLINE_MS}),
SERVER_EXECUTION_LEASE_TTL_MS how long the lease of a process that died stands (${DEFAULT_LEASE_TTL_MS}),
SERVER_EXECUTION_PARKED_RUNTIME_RETENTION_MS how long the runtime of a space that nobody needs is kept
(${DEFAULT_RETENTION_MS}, 0 keeps none). SERVER_EXECUTION_STORE_READ_THROUGH=true reads what changed from its store again.

What patterns may reach, by variables alone (lists have commas between):
  EGRESS            public, or closed: nothing is fetched                                  (public)
  EGRESS_HOSTS      the only hosts that are fetched from, as api.example or *.example
  EGRESS_PORTS      the only ports                                                         (80,443)
  EGRESS_NETWORKS   blocks that may be reached although not public, as 10.1.0.0/16
  EGRESS_HEADERS    request headers beside accept, accept-language and content-type
  LLM_URL           a provider of chat completions, as https://api.example/v1
  LLM_MODELS        its models that may be asked, the default first
  LLM_KEY           its key; or LLM_KEY_FILE, a file that holds it
  LLM_OBJECT_MODE   json-schema, or json-object for one that knows no schemas              (json-schema)
  DATABASES_DIR     databases for queries, SPACE/NAME.sqlite                               (DATA_DIR/databases)
  SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS, SERVER_EXECUTION_EGRESS_RATE_PER_S             (16, no pacing)`;

/** What `Number` takes beside digits, as `0x50` and `1e2`, nobody means as a port. */
const PortSchema = z
  .string()
  .regex(/^\d+$/u, "is a whole number, in decimal digits")
  .transform(Number)
  .refine((value) => value <= 65_535, "is 0 to 65535");

/** A variable that a script left empty is a mistake; as a number it would be 0 and take any port. */
const port = z.string().trim().min(1, "is a number, and is empty").pipe(PortSchema);

const ConfigSchema = z.object({
  host: z.string().min(1, "is an address"),
  port,
  dataDir: z.string().min(1, "is a path"),
  patterns: z.string().min(1, "is a path").optional(),
  durability: z.enum(["normal", "full"], { message: "is normal or full" }),
  demo: z.enum(["true", "false"], { message: "is true or false" }),
});

/** Names of the options as a person types them. */
const FLAG_OF: Readonly<Record<string, string>> = {
  host: "--host (HOST)",
  port: "--port (PORT)",
  dataDir: "--data-dir (DATA_DIR)",
  patterns: "--patterns (PATTERNS)",
  durability: "--durability (DURABILITY)",
  demo: "DEMO",
};

/** Reads a command line and an environment. Never throws: what is wrong is said in words. */
export function readConfig(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ConfigRequest {
  const flags = readFlags(argv);
  if (typeof flags === "string") return { kind: "invalid", problems: [flags] };
  if (flags.help) return { kind: "help", text: HELP };
  const parsed = ConfigSchema.safeParse({
    host: flags.host ?? env["HOST"] ?? "127.0.0.1",
    port: flags.port ?? env["PORT"] ?? "8000",
    dataDir: flags["data-dir"] ?? env["DATA_DIR"] ?? ".tidemark",
    patterns: flags.patterns ?? env["PATTERNS"],
    durability: flags.durability ?? env["DURABILITY"] ?? "normal",
    demo: flags["no-demo"] ? "false" : (env["DEMO"] ?? "true"),
  });
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${FLAG_OF[String(path[0])] ?? String(path[0])} ${message}`,
    );
    return { kind: "invalid", problems };
  }
  const { demo, patterns, ...rest } = parsed.data;
  const effects = readEffectsConfig(env, rest.dataDir);
  if (effects.problems.length > 0) return { kind: "invalid", problems: effects.problems };
  const warnings: string[] = [];
  const budget = readEgressSettings(env, (words) => warnings.push(words));
  const flush = milliseconds(env, "SERVER_EXECUTION_FLUSH_DEADLINE_MS", DEFAULT_FLUSH_DEADLINE_MS);
  const lease = milliseconds(env, "SERVER_EXECUTION_LEASE_TTL_MS", DEFAULT_LEASE_TTL_MS);
  const retention = milliseconds(env, RETENTION, DEFAULT_RETENTION_MS, { zero: true });
  const through = onOff(env, "SERVER_EXECUTION_STORE_READ_THROUGH");
  const tuned = {
    flushDeadlineMs: flush.value,
    leaseTtlMs: lease.value,
    parkedRuntimeRetentionMs: retention.value,
    storeReadThrough: through.value,
    ...budget,
  };
  return {
    kind: "run",
    config: { ...rest, patterns, demo: demo === "true", effects: effects.config, ...tuned },
    warnings: [flush, lease, retention, through].flatMap((one) => one.warnings).concat(warnings),
  };
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        host: { type: "string" },
        port: { type: "string" },
        "data-dir": { type: "string" },
        patterns: { type: "string" },
        durability: { type: "string" },
        "no-demo": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Tuned<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/** Fails closed: a typo keeps the production bound and says so (seed 001 §5). */
function milliseconds(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  bound: number,
  { zero = false }: { readonly zero?: boolean } = {},
): Tuned<number> {
  const text = env[name];
  if (text === undefined || text === "") return { value: bound, warnings: [] };
  // Only the literal 0 says that nothing is wanted.
  if (zero && text === "0") return { value: 0, warnings: [] };
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return { value, warnings: [] };
  return { value: bound, warnings: [`${name}=${text} is no positive number: ${bound} ms stands`] };
}

function onOff(env: Readonly<Record<string, string | undefined>>, name: string): Tuned<boolean> {
  const text = env[name] ?? "";
  const warnings = ["", "true", "false"].includes(text)
    ? []
    : [`${name}=${text} is neither true nor false: false stands`];
  return { value: text === "true", warnings };
}
