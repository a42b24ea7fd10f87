import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PAGE, readSources } from "./files.mjs";
import { conformanceOf } from "./model.mjs";
import { render } from "./render.mjs";

/**
 * Writes the page of a tree, or only checks it.
 *
 * @param {string} root
 * @param {{ check: boolean }} options
 * @returns {{ problems: readonly string[], summary: string }} no problems: the page is there, and right
 */
export function runConformance(root, { check }) {
  const sources = readSources(root);
  const conformance = conformanceOf(sources);
  const page = render(conformance);
  const file = join(root, PAGE);
  const problems = [...conformance.problems];
  if (!check) writeFileSync(file, page);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== page) {
    problems.push(`${PAGE} is stale: run node packages/workspace/bin/conformance.mjs`);
  }
  const sentences = Object.values(sources.sentences).flat().length;
  const atHand = `${Object.keys(sources.seedTexts).length} of ${sources.seeds.length} seeds at hand`;
  return { problems, summary: `${sentences} sentences, ${atHand}, ${problems.length} problems` };
}
