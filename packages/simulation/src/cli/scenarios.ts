import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { BadFileError } from "../scenario/bad-file.js";
import { parseScenario, type Scenario } from "../scenario/file.js";
import { runScenario, type ScenarioResult } from "../run/run-scenario.js";

const HELP = `npm run scenarios -- PATH... [options]

Runs scenario files, or every file under a folder, on the real parts under virtual time.

  --transport loopback|ws   how clients reach the server (loopback)
  --seed N                  chance of the run, instead of the file's own
  --verbose                 a trace of the steps
  --json                    one JSON object a scenario, for machines
  --help                    this text

Exit status 0 when all passed, 1 when any failed, 2 on a bad file or option.`;

interface Options {
  readonly paths: readonly string[];
  readonly transport: "loopback" | "ws";
  readonly seed: number | undefined;
  readonly verbose: boolean;
  readonly json: boolean;
}

class UsageError extends Error {}

function readOptions(argv: readonly string[]): Options | "help" {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      transport: { type: "string", default: "loopback" },
      seed: { type: "string" },
      verbose: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const { transport, verbose, json } = values;
  if (transport !== "loopback" && transport !== "ws") {
    throw new UsageError(`--transport is loopback or ws, not "${transport}"`);
  }
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  if (seed !== undefined && !Number.isSafeInteger(seed))
    throw new UsageError("--seed is a whole number");
  if (positionals.length === 0) throw new UsageError("name at least one file or folder");
  return { paths: positionals, transport, seed, verbose, json };
}

function filesOf(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })) throw new UsageError(`there is no ${path}`);
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(path, name))
    .sort();
}

function load(file: string): Scenario {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new BadFileError(file, "the file", error instanceof Error ? error.message : "no JSON");
  }
  return parseScenario(file, content);
}

function print(options: Options, file: string, result: ScenarioResult): void {
  if (options.json) {
    const { trace, ...rest } = result;
    console.log(JSON.stringify({ file, ...rest, ...(options.verbose ? { trace } : {}) }));
    return;
  }
  const name = relative(process.cwd(), file);
  console.log(`${result.passed ? "ok  " : "FAIL"} ${result.id.padEnd(8)} ${result.title}`);
  if (!result.passed) console.log(`     ${name}: ${result.failure}`);
  if (options.verbose) for (const line of result.trace) console.log(`       ${line}`);
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(HELP);
    return 0;
  }
  // Every file is read before the first one runs: a bad one says so at once.
  const scenarios = options.paths.flatMap(filesOf).map((file) => ({ file, scenario: load(file) }));
  let failed = 0;
  for (const { file, scenario } of scenarios) {
    const result = await runScenario(scenario, options);
    if (!result.passed) failed += 1;
    print(options, file, result);
  }
  const passed = scenarios.length - failed;
  console.log(
    options.json ? JSON.stringify({ passed, failed }) : `${passed} passed, ${failed} failed`,
  );
  return failed === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    if (error instanceof UsageError) console.error(`\n${HELP}`);
    process.exit(2);
  },
);
