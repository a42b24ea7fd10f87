#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PAGE } from "../src/conformance/files.mjs";
import { runConformance } from "../src/conformance/run.mjs";

const HELP = `node packages/workspace/bin/conformance.mjs [--check]

Writes ${PAGE}: which sentence of the seeds is held by which rule, code and test. Ends with 1 where the maps in
docs/conformance do not fit the SPEC.md files, the tree, or the seeds where they are at hand.

  --check   writes nothing; ends with 1 as well where the page is not what it would write
  --help    this text`;

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) console.log(HELP);
else {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const { problems, summary } = runConformance(root, { check: options.check });
  for (const problem of problems) console.error(problem);
  console.log(summary);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
