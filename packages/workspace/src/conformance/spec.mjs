import { readCitations } from "./citations.mjs";

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {string} sentence what the rule says, without its id and source
 * @property {import("./citations.mjs").Citation[]} citations the places in seeds that it comes from
 * @property {string} package the package's folder, `packages/executor`
 * @property {string} heading the heading that it stands under
 * @property {boolean} notYet it stands under "Not yet"
 */

const RULE = /^- \*\*([A-Z]{2,}-[A-Z]*\d+)\*\*\s+([\s\S]*)$/u;
const SOURCE = /\s*\(((?:[^()]|\([^()]*\))*)\)$/u;

/**
 * The rules of one SPEC.md, in their order.
 *
 * @param {string} text
 * @param {string} packageDir
 * @returns {Rule[]}
 */
export function readSpec(text, packageDir) {
  /** @type {Rule[]} */
  const rules = [];
  let heading = "";
  let notYet = false;
  for (const block of blocksOf(text)) {
    const title = /^(#{2,}) (.*)$/u.exec(block);
    if (title) {
      heading = title[2] ?? "";
      // A deeper heading stays within the part that it divides.
      if (title[1] === "##") notYet = /^Not yet\b/u.test(heading);
      continue;
    }
    const rule = readRule(block);
    if (rule) rules.push({ ...rule, package: packageDir, heading, notYet });
  }
  return rules;
}

/** Headings and list items, each with the lines that continue it. @param {string} text */
function blocksOf(text) {
  /** @type {string[]} */
  const blocks = [];
  for (const line of text.split("\n")) {
    if (/^(?:#|- )/u.test(line) || line.trim() === "") blocks.push(line);
    else blocks.push(`${blocks.pop() ?? ""} ${line.trim()}`);
  }
  return blocks;
}

/** @param {string} block */
function readRule(block) {
  const found = RULE.exec(block);
  if (!found) return undefined;
  const [, id = "", words = ""] = found;
  const text = words.trim();
  const source = SOURCE.exec(text)?.[1] ?? "";
  return { id, sentence: text.replace(SOURCE, ""), citations: readCitations(source) };
}
