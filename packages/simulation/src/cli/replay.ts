import { systemClock, systemRandom } from "@tidemark/protocol";
import { HELP, readReplayOptions, type ReplayCommand } from "../replay/options.js";
import { ProgressLine } from "../replay/progress-line.js";
import { dataFolder, RECORDINGS } from "../replay/recordings.js";
import { replay } from "../replay/replay.js";
import { linesOf, type ReplayReport, reportOf } from "../replay/report.js";
import { prefixOf, readTrace, type Trace, traceFile } from "../replay/trace.js";

const MAX_SEED = 2 ** 31;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

interface Recording {
  readonly name: string;
  readonly writers: 1 | 2;
  readonly trace: Trace;
}

async function main(): Promise<number> {
  const request = readReplayOptions(process.argv.slice(2));
  if (request.kind === "help") {
    console.log(HELP);
    return 0;
  }
  if (request.kind === "invalid") {
    console.error(`${request.problem}\n\n${HELP}`);
    return EXIT_USAGE;
  }
  const { options } = request;
  const recordings = load(options);
  if (recordings === undefined) return EXIT_USAGE;
  const seed = options.seed ?? Math.floor(systemRandom.next() * MAX_SEED);
  console.error(`seed ${seed}`);
  let failed = 0;
  for (const recording of recordings) {
    const report = await run(recording, options, seed);
    if (!report.passed) failed += 1;
    if (options.json) console.log(JSON.stringify({ seed, ...report }));
    else console.log(linesOf(report).join("\n"));
  }
  if (!options.json) console.log(`${recordings.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : EXIT_FAILED;
}

/** All of them, before the first one runs. Undefined where one is not there: it has said so then. */
function load({ names, data, prefix = Infinity }: ReplayCommand): readonly Recording[] | undefined {
  const folder = dataFolder(data, process.env);
  const wanted = RECORDINGS.filter(({ name }) => names.includes(name));
  const recordings: Recording[] = [];
  for (const { name, writers } of wanted) {
    const trace = readTrace(folder, name);
    if (trace === undefined) {
      console.error(`NOTHING WAS REPLAYED: there is no ${traceFile(folder, name)}.`);
      console.error("Name the folder of the recordings by --data PATH or in TIDEMARK_DATA.");
      return undefined;
    }
    recordings.push({ name, writers, trace: prefixOf(trace, prefix) });
  }
  return recordings;
}

async function run(
  { name, writers, trace }: Recording,
  { kills, width, leaseTtlMs }: ReplayCommand,
  seed: number,
): Promise<ReplayReport> {
  const line = new ProgressLine(process.stderr, name, () => systemClock.monotonic());
  const result = await replay({
    trace,
    writers,
    kills,
    seed,
    width,
    leaseTtlMs,
    onProgress: (progress) => line.show(progress),
  }).finally(() => line.end());
  return reportOf(name, result);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(EXIT_FAILED);
  },
);
