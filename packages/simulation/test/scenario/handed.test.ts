import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const COPIES = join(import.meta.dirname, "../../scenarios");
/** Where the originals stand beside a checkout that has them. */
const ORIGINALS = join(import.meta.dirname, "../../../../../shared/scenarios/handed");

const filesUnder = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort();

test("the copies of the handed files are all there, whole, and equal to the originals where those stand", () => {
  const copies = filesUnder(COPIES).filter((name) => !name.startsWith("own/"));
  expect(copies.length).toBeGreaterThan(190);
  if (!existsSync(ORIGINALS)) return;
  expect(copies).toEqual(filesUnder(ORIGINALS));
  for (const name of copies) {
    expect(readFileSync(join(COPIES, name), "utf8"), name).toBe(
      readFileSync(join(ORIGINALS, name), "utf8"),
    );
  }
});
