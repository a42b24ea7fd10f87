import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "@tidemark/protocol";
import { runCampaign } from "../simulator/campaign.js";
import { Coverage } from "../simulator/coverage.js";
import { minimise } from "../simulator/minimise.js";
import type { PlanFile } from "../simulator/plan-file.js";
import { planText, scenarioText } from "../simulator/report.js";
import { type PlanResult, runPlan } from "../simulator/run-plan.js";
import { SeedProgress } from "./seed-progress.js";

const HELP = `npm run simulate -- [options]

Runs random worlds on the real parts under virtual time, each made from a seed, and judges every step.

  --seeds N       how many seeds (100)
  --from S        the first seed (1)
  --stop          stops at the first seed that fails
  --replay FILE   runs one plan file instead, as a failing seed wrote it
  --mutations     plants each of the faults of test/simulator/mutations and wants it found, and those of
                  test/script/faults.ts, which the trace alone has to tell
  --out DIR       where plan files of failing seeds go (.)
  --verbose       the steps of each failing seed, and which faults a short run never met
  --json          one JSON object a line: each seed, each file written, and the sums at the end
  --help          this text

Progress goes to stderr: one line that is written over at a terminal, a line each tenth elsewhere. Ctrl-C ends the run
behind the seed under way and prints the sums so far; a second one ends it at once.

Exit status 0 when everything held, 1 when something did not or a reachable pair of gate and fault was never met
(in runs of 500 seeds and more), 2 on a bad option, 130 when it was interrupted and nothing had failed.`;

/** From so many seeds on, a pair of gate and fault that was never met is a fault of the simulator. */
const LONG_RUN = 500;
/** All that a run can meet: each fault at each gate, and each elsewhere. */
const FAULTS = new Coverage().missing().length;
const INTERRUPTED = 130;
const SAME_INTERRUPT_MS = 500;

class UsageError extends Error {}

interface Options {
  readonly seeds: number;
  readonly from: number;
  readonly stop: boolean;
  readonly replay: string | undefined;
  readonly mutations: boolean;
  readonly out: string;
  readonly verbose: boolean;
  readonly json: boolean;
}

function readOptions(argv: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seeds: { type: "string", default: "100" },
      from: { type: "string", default: "1" },
      stop: { type: "boolean", default: false },
      replay: { type: "string" },
      mutations: { type: "boolean", default: false },
      out: { type: "string", default: "." },
      verbose: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const { stop, replay, mutations, out, verbose, json } = values;
  const count = (name: string, text: string): number => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new UsageError(`${name} is a whole number`);
    return value;
  };
  const seeds = count("--seeds", values.seeds);
  if (seeds === 0) throw new UsageError("--seeds is 1 or more: a run of none finds nothing");
  return { seeds, from: count("--from", values.from), stop, replay, mutations, out, verbose, json };
}

function printFindings(result: PlanResult, { json, verbose }: Options): void {
  const { plan, findings, work, trace } = result;
  if (json) {
    console.log(JSON.stringify({ seed: plan.seed, findings, work, ...(verbose ? { trace } : {}) }));
    return;
  }
  if (findings.length === 0) return;
  console.log(`\nseed ${plan.seed} FAILS`);
  for (const { rule, what, step } of findings) console.log(`  step ${step}, ${rule}: ${what}`);
  if (verbose) for (const line of trace) console.log(`    ${line}`);
}

async function writeReplay(
  result: PlanResult,
  options: Options,
  progress: SeedProgress,
): Promise<void> {
  const small = await minimise(result, (steps) => progress.say(`minimising: ${steps} steps`));
  progress.clear();
  const file = join(options.out, `sim-${result.plan.seed}.plan.json`);
  mkdirSync(options.out, { recursive: true });
  writeFileSync(file, planText(small));
  const scenario = await scenarioText(small);
  if (scenario) writeFileSync(join(options.out, `sim-${result.plan.seed}.scenario.json`), scenario);
  if (options.json) {
    console.log(JSON.stringify({ seed: result.plan.seed, replay: file }));
    return;
  }
  console.log(`  ${small.plan.steps.length} steps replay it: npm run simulate -- --replay ${file}`);
}

/** @throws Error that names the file, where it holds no plan */
async function runFile(file: string): Promise<PlanResult> {
  try {
    return await runPlan(JSON.parse(readFileSync(file, "utf8")) as PlanFile);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} cannot be replayed: ${why}`, { cause: error });
  }
}

async function replay(file: string, options: Options): Promise<number> {
  const result = await runFile(file);
  printFindings(result, options);
  if (!options.json && result.findings.length === 0) console.log(`${file} holds`);
  return result.findings.length === 0 ? 0 : 1;
}

async function simulate(options: Options): Promise<number> {
  const progress = new SeedProgress(process.stderr, options.seeds, () => systemClock.monotonic());
  const signal = firstInterrupt();
  const { failed, work, coverage, seeds } = await runCampaign({
    from: options.from,
    seeds: options.seeds,
    untilFailure: options.stop,
    signal,
    onSeed: (seed, result) => {
      if (result.findings.length > 0) progress.clear();
      printFindings(result, options);
      progress.seed(seed, result.findings.length > 0);
    },
  });
  for (const result of failed) await writeReplay(result, options, progress);
  const missing = coverage.missing();
  const thin = seeds >= LONG_RUN && missing.length > 0;
  if (options.json) {
    console.log(JSON.stringify({ seeds, failed: failed.length, work, coverage, missing }));
  } else {
    progress.clear();
    console.log(`\n${coverage.table()}\n`);
    for (const [name, count] of Object.entries(work)) console.log(`${name.padEnd(22)}${count}`);
    const never = neverMet(missing, seeds >= LONG_RUN || options.verbose);
    if (never !== undefined) console.log(never);
    console.log(`${seeds - failed.length} seeds held, ${failed.length} failed`);
  }
  if (failed.length > 0 || thin) return 1;
  return signal.aborted && seeds < options.seeds ? INTERRUPTED : 0;
}

/** A short run leaves out most: it says how many, and a long or verbose one which. */
function neverMet(missing: readonly string[], listed: boolean): string | undefined {
  if (missing.length === 0) return undefined;
  if (listed) return `never met: ${missing.join(", ")}`;
  return `${missing.length} of ${FAULTS} faults were never met; --verbose lists them`;
}

/** The first Ctrl-C ends the run in order, a second one at once. A terminal and whoever started us both pass one on. */
function firstInterrupt(): AbortSignal {
  const controller = new AbortController();
  let first = Number.POSITIVE_INFINITY;
  process.on("SIGINT", () => {
    if (systemClock.monotonic() - first > SAME_INTERRUPT_MS) process.exit(INTERRUPTED);
    first = Math.min(first, systemClock.monotonic());
    controller.abort();
  });
  return controller.signal;
}

/** The planted faults are changes of source lines: the test runner loads the sources with them. */
function runMutations(): Promise<number> {
  const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
  const tests = ["test/simulator/mutations.test.ts", "test/script/faults.test.ts"];
  const args = ["vitest", "run", ...tests, "--reporter=verbose"];
  const child = spawn("npx", args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, MUTATIONS: "all" },
  });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 2)));
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(HELP);
    return 0;
  }
  if (options.mutations) return runMutations();
  return options.replay === undefined ? simulate(options) : replay(options.replay, options);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    if (error instanceof UsageError) console.error(`\n${HELP}`);
    process.exit(2);
  },
);
