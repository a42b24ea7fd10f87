import { parseArgs } from "node:util";

/** What a command line asks for. */
export type BenchRequest =
  | { readonly kind: "run"; readonly options: BenchOptions }
  | { readonly kind: "help" }
  | { readonly kind: "invalid"; readonly problem: string };

export interface BenchOptions {
  readonly json: boolean;
  /** Shorter runs: to see that everything works, not to quote from. */
  readonly quick: boolean;
  /** Names of the figures to measure; empty for all. */
  readonly only: readonly string[];
  /** The folder with the recorded data; absent: beside the project. */
  readonly data: string | undefined;
}

/** Reads a command line. Never throws. */
export function readOptions(argv: readonly string[], names: readonly string[]): BenchRequest {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        json: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true, default: [] },
        data: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    return { kind: "invalid", problem: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return { kind: "help" };
  const only = values.only.flatMap((text) => text.split(",")).filter((name) => name !== "");
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const problem = `there is no figure "${unknown}"; there are ${names.join(", ")}`;
    return { kind: "invalid", problem };
  }
  return {
    kind: "run",
    options: { json: values.json, quick: values.quick, only, data: values.data },
  };
}

/** The text of `--help`. */
export function helpText(
  figures: readonly { readonly name: string; readonly about: string }[],
): string {
  const width = Math.max(...figures.map(({ name }) => name.length));
  const list = figures.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  return `npm run bench -- [options]

  --only NAME   measure this figure alone; may be given again, or NAME,NAME
  --quick       shorter runs: to see that all of it works, not to quote from
  --data PATH   the folder of the recordings, which are not in the repository
  --json        print JSON in place of the table
  --help        this text

Figures:
${list.join("\n")}

Ends with 1 where a figure that was measured is missed, with 2 where one could not be measured. docs/benchmarks.md says how each is measured.`;
}
