import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder } from "../src/folder/make-folder.js";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "toolshed-folder-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("[TS-F2] what is missing above a folder is made with it, by its mode, and what stands is kept", () => {
  makeFolder(join(dir, "a"));
  const plain = modeOf(join(dir, "a"));
  makeFolder(join(dir, "a", "b", "c"), 0o700);
  expect(["a/b", "a/b/c"].map((path) => modeOf(join(dir, path)))).toEqual([0o700, 0o700]);
  makeFolder(join(dir, "a"), 0o700);
  expect(modeOf(join(dir, "a"))).toBe(plain);
});

test("[TS-F2] a relative path, a trailing slash, a link to a folder and the root are folders too", () => {
  makeFolder(`${relative(process.cwd(), join(dir, "x", "y"))}/`);
  symlinkSync(join(dir, "x"), join(dir, "link"));
  makeFolder(join(dir, "link", "z"));
  makeFolder(join(dir, "link"));
  makeFolder("/");
  expect(["x/y", "x/z"].map((path) => statSync(join(dir, path)).isDirectory())).toEqual([
    true,
    true,
  ]);
});

test.each(["file", "file/below", "dangling", "dangling/below", "loop/below", "n".repeat(300)])(
  "[TS-F1] %s is no folder, and nothing is made of it",
  (path) => {
    writeFileSync(join(dir, "file"), "text");
    symlinkSync(join(dir, "nowhere"), join(dir, "dangling"));
    symlinkSync(join(dir, "loop"), join(dir, "loop"));
    expect(() => makeFolder(join(dir, path))).toThrow(/mkdir/u);
    expect(statSync(join(dir, "nowhere"), { throwIfNoEntry: false })).toBeUndefined();
  },
);

test.runIf(process.platform === "linux")(
  "[TS-F1] where the system knows no such folder its error comes, and it comes at once",
  () => {
    expect(() => makeFolder("/proc/none")).toThrow("ENOENT");
    expect(() => makeFolder("/proc/none/below/it")).toThrow("ENOENT");
  },
);
