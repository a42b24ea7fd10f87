import { lunchPoll, samplePatterns } from "@tidemark/patterns";
import { type Clock, type Random, systemClock, systemRandom } from "@tidemark/protocol";
import type { Pattern } from "@tidemark/runtime";
import { readConfig, type ToolshedConfig } from "../config/config.js";
import { type Effects, openEffects } from "../effects/open-effects.js";
import { describeError } from "../log/describe-error.js";
import { createLog, type Log, type LogSink } from "../log/log.js";
import { loadPatterns } from "../patterns/load-patterns.js";
import { createToolshed, type Toolshed } from "../toolshed.js";
import { EXIT, explainStartupFailure } from "./startup-failure.js";
import { stopRequests } from "./stop-requests.js";

/** What a process gives its program. */
export interface ProgramHost {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: LogSink;
  readonly stderr: LogSink;
  readonly shellDir: string | undefined;
  readonly version: string;
  /** Calls `fn` at every signal to stop, with the monotonic time it came at, ms. */
  onStop(fn: (signal: string, at: number) => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** A stop that takes longer is given up: leases and sessions end by their own deadlines then. */
const STOP_DEADLINE_MS = 4_500;
/** Below the deadline, so that a handler that hangs does not keep the leases of the others. */
const DISPOSE_TIMEOUT_MS = 3_000;

/** Runs toolshed until it is asked to stop. Resolves with the exit code, and never rejects. */
export async function run(program: ProgramHost): Promise<number> {
  const request = readConfig(program.argv, program.env);
  if (request.kind === "help") {
    program.stdout.write(`${request.text}\n`);
    return EXIT.ok;
  }
  if (request.kind === "invalid") return refuse(program, request.problems);
  const log = createLog(systemClock, program.stderr);
  for (const warning of request.warnings) log("warn", warning);
  const patterns = await patternsOf(request.config);
  if (typeof patterns === "string") return refuse(program, [patterns]);
  const effects = await openEffects(request.config.effects, systemClock);
  if (typeof effects === "string") return refuse(program, [effects]);
  return serve(program, request.config, { patterns, effects }, log);
}

function refuse({ stderr }: ProgramHost, problems: readonly string[]): number {
  for (const problem of problems) stderr.write(`toolshed: ${problem}\n`);
  stderr.write("--help lists the options\n");
  return EXIT.usage;
}

async function patternsOf({ patterns }: ToolshedConfig): Promise<readonly Pattern[] | string> {
  if (patterns === undefined) return samplePatterns;
  const loaded = await loadPatterns(patterns, samplePatterns);
  return loaded.ok ? [...samplePatterns, ...loaded.patterns] : loaded.problem;
}

/** What a configuration names and is already there. */
interface Parts {
  readonly patterns: readonly Pattern[];
  readonly effects: Effects;
}

async function serve(
  program: ProgramHost,
  config: ToolshedConfig,
  parts: Parts,
  log: Log,
): Promise<number> {
  const stopped = new Promise<string>((resolve) => {
    const asked = stopRequests();
    program.onStop((signal, at) => {
      const request = asked(at);
      if (request === "stop") resolve(signal);
      // Who asks again does not want to wait.
      else if (request === "exit") program.exit(EXIT.internal);
    });
  });
  let toolshed: Toolshed;
  try {
    toolshed = await createToolshed(optionsOf(program, config, parts, log));
  } catch (error) {
    const { exitCode, code, words } = explainStartupFailure(error, config);
    log("error", "start-failed", { code, exitCode });
    program.stderr.write(`toolshed: ${words}\n`);
    return exitCode;
  }
  announce(program, toolshed);
  log("info", "started", {
    url: toolshed.url,
    dataDir: config.dataDir,
    holder: toolshed.host.holder,
  });
  const signal = await stopped;
  return stop(toolshed, signal, log, systemClock);
}

function optionsOf(
  program: ProgramHost,
  config: ToolshedConfig,
  { patterns, effects }: Parts,
  log: Log,
) {
  const { host, port, dataDir, durability, flushDeadlineMs, leaseTtlMs } = config;
  const { maxOutstandingEffects, egressRatePerSecond } = config;
  const { parkedRuntimeRetentionMs, storeReadThrough } = config;
  const random: Random = systemRandom;
  return {
    host,
    port,
    dataDir,
    durability,
    patterns,
    effects,
    demo: config.demo ? (lunchPoll as unknown as Pattern) : undefined,
    clock: systemClock,
    random,
    log,
    serving: {
      flushDeadlineMs,
      leaseTtlMs,
      leaseRenewMs: leaseTtlMs / 3,
      parkDisposeTimeoutMs: DISPOSE_TIMEOUT_MS,
      parkedRuntimeRetentionMs,
      storeReadThrough,
      maxOutstandingEffects,
      egressRatePerSecond,
    },
    shellDir: program.shellDir,
    version: program.version,
  };
}

function announce({ stdout }: ProgramHost, { url, demo }: Toolshed): void {
  stdout.write(`toolshed listening on ${url}\n`);
  if (demo) stdout.write(`lunch poll at ${url}/#/space/${demo.space}/piece/${demo.piece}\n`);
}

async function stop(toolshed: Toolshed, signal: string, log: Log, clock: Clock): Promise<number> {
  log("info", "stopping", { signal });
  const late = new Promise<"late">((resolve) => {
    clock.timer(STOP_DEADLINE_MS, () => resolve("late"));
  });
  try {
    if ((await Promise.race([toolshed.stop(), late])) === "late") {
      log("error", "stop-late", { afterMs: STOP_DEADLINE_MS });
      return EXIT.internal;
    }
  } catch (error) {
    log("error", "stop-failed", { error: describeError(error) });
    return EXIT.internal;
  }
  log("info", "stopped");
  return EXIT.ok;
}
