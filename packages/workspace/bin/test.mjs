#!/usr/bin/env node
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findChromium } from "./chromium.mjs";
import { bold, build, green, install, pnpm, red, run, scratch, tool, yellow } from "./lib.mjs";

const HELP = `npm test [-- options]

Runs everything that must hold: format, lint, types, the import table, the conformance page, every package alone, the
scenarios on both transports, and the browser test. Ends with 'N passed, N failed'.

  --only STEP[,STEP]   just these steps: format lint layout conformance types packages scenarios browser
  --package NAME       of the packages, just this one
  --help               this text`;

const options = readOptions();

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string" },
        package: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    return process.exit(2);
  }
}

const tally = { passed: 0, failed: 0 };
const failures = [];

/** @param {string} name @param {number} passed @param {number} failed @param {number} startedAt */
function record(name, passed, failed, startedAt) {
  tally.passed += passed;
  tally.failed += failed;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const words =
    failed === 0 ? green(`${passed} passed`) : red(`${failed} failed, ${passed} passed`);
  console.log(`${bold(name.padEnd(28))} ${words} ${yellow(`${seconds} s`)}`);
  if (failed > 0) failures.push(name);
}

/** A step that passes or fails as one. @param {string} name @param {() => Promise<{code: number, output: string}>} step */
async function whole(name, step) {
  const startedAt = performance.now();
  const { code, output } = await step();
  if (code !== 0) console.log(output);
  record(name, code === 0 ? 1 : 0, code === 0 ? 0 : 1, startedAt);
}

const quiet = { quiet: true };
const steps = {
  format: () => whole("format", () => run(tool("oxfmt"), ["--check", "."], quiet)),
  lint: () => whole("lint", () => run(tool("oxlint"), ["--deny-warnings"], quiet)),
  layout: () =>
    whole("import table", () =>
      run(process.execPath, ["packages/workspace/bin/check-layout.mjs"], quiet),
    ),
  conformance: () =>
    whole("conformance", () =>
      run(process.execPath, ["packages/workspace/bin/conformance.mjs", "--check"], quiet),
    ),
  types: () =>
    whole("types", () =>
      pnpm(["exec", "turbo", "run", "check", "--output-logs=errors-only"], quiet),
    ),
  packages: () => packages(),
  scenarios: () => scenarios(),
  browser: () => browser(),
};

/** Each package's tests in a process of their own, two at a time, those with most first: each must pass alone. */
async function packages() {
  const names = await packageNames();
  const queue = names.filter((name) => !options.package || name === `@tidemark/${options.package}`);
  if (queue.length === 0) {
    const known = names.map((name) => name.replace("@tidemark/", "")).toSorted();
    throw new Error(`no such package: ${options.package}; there are ${known.join(", ")}`);
  }
  const worker = async () => {
    for (let name = queue.shift(); name; name = queue.shift()) await testPackage(name);
  };
  await Promise.all([worker(), worker()]);
}

async function packageNames() {
  const { output } = await pnpm(["ls", "-r", "--depth", "-1", "--json"], quiet);
  const listed = JSON.parse(output.slice(output.indexOf("[")));
  return listed
    .filter((entry) => existsSync(join(entry.path, "package.json")))
    .filter((entry) => manifest(entry.path).scripts?.test && entry.name !== "tidemark")
    .toSorted((a, b) => testBytes(b.path) - testBytes(a.path))
    .map((entry) => entry.name);
}

/** How much there is to test, roughly. @param {string} path */
function testBytes(path) {
  const files = readdirSync(join(path, "test"), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && /\.test\.(?:ts|mjs)$/u.test(file.name))
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

/** @param {string} path */
const manifest = (path) => JSON.parse(readFileSync(join(path, "package.json"), "utf8"));

/** @param {string} name */
async function testPackage(name) {
  const startedAt = performance.now();
  const report = join(scratch(`report-${name.replace("/", "-")}`), "report.json");
  const { code, output } = await pnpm(
    ["--filter", name, "test", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`],
    quiet,
  );
  const counts = readReport(report);
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed);
  if (failed > 0) console.log(output);
  record(name, counts.passed, failed, startedAt);
}

/** @param {string} file */
function readReport(file) {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const report = JSON.parse(readFileSync(file, "utf8"));
  return { passed: report.numPassedTests, failed: report.numFailedTests };
}

async function scenarios() {
  const folders = ["1-foundation", "2-serving", "own"].map(
    (name) => `packages/simulation/scenarios/${name}`,
  );
  for (const transport of ["loopback", "ws"]) {
    const startedAt = performance.now();
    const { output } = await run(
      process.execPath,
      ["packages/workspace/bin/scenarios.mjs", ...folders, "--transport", transport],
      quiet,
    );
    const counts = /(\d+) passed, (\d+) failed\s*$/u.exec(output);
    const failed = counts ? Number(counts[2]) : 1;
    if (failed > 0) console.log(output);
    record(`scenarios over ${transport}`, counts ? Number(counts[1]) : 0, failed, startedAt);
  }
}

async function browser() {
  const startedAt = performance.now();
  const chromium = await findChromium();
  if (!chromium) {
    console.log(red(bold("THE BROWSER TEST DID NOT RUN: there is no Chromium here.")));
    console.log("Install Debian's package `chromium`, or name one in the variable CHROMIUM.");
    if (process.env.CI) record("browser", 0, 1, startedAt);
    return;
  }
  const report = join(scratch("report-browser"), "report.json");
  const { code, output } = await pnpm(
    [
      "--filter",
      "@tidemark/shell",
      "test:browser",
      "--reporter=dot",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ],
    { quiet: true, env: { CHROMIUM: chromium } },
  );
  const counts = readReport(report);
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed);
  if (failed > 0) console.log(output);
  record("browser", counts.passed, failed, startedAt);
}

async function main() {
  if (options.help) return console.log(HELP);
  const chosen = options.only?.split(",") ?? Object.keys(steps);
  const unknown = chosen.filter((name) => !Object.hasOwn(steps, name));
  if (unknown.length > 0) throw new Error(`no such step: ${unknown.join(", ")}\n\n${HELP}`);
  await install();
  await build();
  for (const name of chosen) await steps[/** @type {keyof typeof steps} */ (name)]();
  if (failures.length > 0) console.log(red(`failed: ${failures.join(", ")}`));
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(red(error.message));
  console.log(`${tally.passed} passed, ${tally.failed + 1} failed`);
  process.exitCode = 1;
});
