/*
 * Node's file system without an import: `./testing` is loaded by browser tests too, where an import
 * of a built-in fails even if nobody calls it.
 */

interface FileSystem {
  readFileSync(path: string, encoding: "utf8"): string;
  writeFileSync(path: string, text: string): void;
  mkdirSync(path: string, options: { recursive: true }): void;
  rmSync(path: string, options: { force: true }): void;
  readdirSync(path: string, options: { recursive: true }): string[];
}

interface PathTools {
  join(...parts: string[]): string;
}

interface UrlTools {
  fileURLToPath(url: string): string;
}

interface Builtins {
  readonly "node:fs": FileSystem;
  readonly "node:path": PathTools;
  readonly "node:url": UrlTools;
}

interface ProcessLike {
  getBuiltinModule(name: string): unknown;
}

/** A Node built-in. Throws where there is no Node. */
export function builtin<N extends keyof Builtins>(name: N): Builtins[N] {
  const { process } = globalThis as { readonly process?: ProcessLike };
  const found = process?.getBuiltinModule(name);
  if (found === undefined) throw new Error(`${name} is not there: this helper runs in Node only`);
  return found as Builtins[N];
}

/** A path, from a path or a `file:` URL. */
export function pathOf(place: string): string {
  return place.startsWith("file:") ? builtin("node:url").fileURLToPath(place) : place;
}
