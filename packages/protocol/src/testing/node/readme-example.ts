import { builtin, pathOf } from "./builtins.js";

/** Which example to run. */
export interface ReadmeExampleInput {
  /** Folder of the package: path or `file:` URL. */
  readonly packageDir: string;
  /** The file with the example, in that folder. Default `README.md`. */
  readonly file?: string;
  /** Which ```ts block of the file; default the first, 0. */
  readonly index?: number;
  /**
   * Imports a module by its path. Pass `(path) => import(path)` of the test itself where the default
   * does not resolve TypeScript sources.
   */
  readonly load?: (path: string) => Promise<unknown>;
}

/** What an example did. */
export interface ReadmeExampleRun {
  /** What it exports. */
  readonly exports: Readonly<Record<string, unknown>>;
  /** One line per `console.log`. */
  readonly printed: readonly string[];
}

const BLOCK = /^```ts\n([\s\S]*?)^```$/gm;
/** `console.log(x); // prints: text` */
const PROMISE = /console\.log\(.*\/\/ prints: (.*)$/gm;

/** The example's own console: what it prints is compared, and the test's output stays clean. */
const PRELUDE =
  "export const __printed: string[] = []; const console = " +
  '{ log: (...words: unknown[]) => void __printed.push(words.map(String).join(" ")) };\n';

/** The ```ts blocks of a Markdown text. */
export function readExamples(markdown: string): string[] {
  return [...markdown.matchAll(BLOCK)].map((match) => match[1] ?? "");
}

/**
 * Runs an example of a README as it stands there, imports of the package's own name included. Every `console.log(…); // prints: text` must print that text; the rest is up to what the
 * example throws. Rejects with what the example threw, or with the lines that differ.
 *
 * The block becomes a file in `<package>/.tidemark/`, which git ignores, for as long as it runs.
 */
export async function runReadmeExample(input: ReadmeExampleInput): Promise<ReadmeExampleRun> {
  const { join } = builtin("node:path");
  const fs = builtin("node:fs");
  const packageDir = pathOf(input.packageDir);
  const file = input.file ?? "README.md";
  const index = input.index ?? 0;
  const code = readExamples(fs.readFileSync(join(packageDir, file), "utf8"))[index];
  if (code === undefined)
    throw new Error(`${file} of ${packageDir} has no \`\`\`ts block ${index}`);
  const dir = join(packageDir, ".tidemark");
  const path = join(dir, `example-${file.replace(/\W/g, "-")}-${index}.ts`);
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(path, PRELUDE + code);
  try {
    const { __printed, ...exports } = await loadExample(input, path);
    return checked(code, exports, __printed);
  } finally {
    fs.rmSync(path, { force: true });
  }
}

type ExampleModule = Record<string, unknown> & { readonly __printed: readonly string[] };

async function loadExample(input: ReadmeExampleInput, path: string): Promise<ExampleModule> {
  const load = input.load ?? ((from: string) => import(/* @vite-ignore */ from));
  return (await load(path)) as ExampleModule;
}

function checked(
  code: string,
  exports: Readonly<Record<string, unknown>>,
  printed: readonly string[],
): ReadmeExampleRun {
  const promised = [...code.matchAll(PROMISE)].map((match) => (match[1] ?? "").trim());
  const missing = promised.filter((line) => !printed.includes(line));
  if (missing.length > 0) {
    throw new Error(
      `the example promises ${JSON.stringify(missing)} and prints ${JSON.stringify(printed)}`,
    );
  }
  return { exports, printed };
}
