/**
 * The import table of the architecture: which packages a package may import, besides npm. An arrow that is not here
 * is a build failure, so that the direction of imports stays one.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const ALLOWED_IMPORTS = {
  protocol: [],
  events: ["protocol"],
  scheduler: ["protocol"],
  speculation: ["protocol"],
  "memory-engine": ["protocol", "events"],
  runtime: ["protocol", "scheduler", "events"],
  outbox: ["protocol", "memory-engine"],
  executor: ["protocol", "events", "scheduler", "memory-engine", "runtime", "outbox"],
  client: ["protocol", "events", "scheduler", "runtime", "speculation"],
  patterns: ["runtime"],
};

/** Packages that run in a browser: no Node built-ins in their sources, their `./testing` entries aside. */
export const BROWSER_PACKAGES = new Set([
  "protocol",
  "events",
  "scheduler",
  "speculation",
  "runtime",
  "client",
  "patterns",
  "shell",
]);

/** The shell is an application, and still imports no engine. */
export const FORBIDDEN_FOR_SHELL = new Set(["memory-engine", "executor", "outbox"]);

/** Names of the retired design (seed 001 §8): they appear in no code. */
export const RETIRED_NAMES = new Set([
  "claim",
  "candidate",
  "settlement",
  "fence",
  "rank",
  "contextKey",
  "completeSchedulerScopeSummary",
  "completeActionScopeSummary",
  "scopeSummary",
  "evidence",
  "observationReplay",
  "shadowRun",
  "admissionCertificate",
  "lease_generation",
  "fencingToken",
]);
