import { helpText, readOptions } from "./cli/options.js";
import { FIGURES } from "./figures/all.js";
import { Progress } from "./report/progress.js";
import { allMet } from "./report/row.js";
import { formatTable } from "./report/table.js";
import { run } from "./run.js";

/** The command. 0: every figure that was measured is met; 1: one is missed; 2: it could not be measured. */
async function main(argv: readonly string[]): Promise<number> {
  const names = FIGURES.map(({ name }) => name);
  const request = readOptions(argv, names);
  if (request.kind === "help") {
    console.log(helpText(FIGURES));
    return 0;
  }
  if (request.kind === "invalid") {
    console.error(`bench: ${request.problem}. --help tells what there is.`);
    return 2;
  }
  const rows = await run(FIGURES, request.options, new Progress(process.stderr));
  console.log(request.options.json ? JSON.stringify({ rows }, null, 2) : formatTable(rows));
  return allMet(rows) ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error);
  process.exitCode = 2;
}
