/**
 * @typedef {import("./model.mjs").Conformance} Conformance
 * @typedef {import("./model.mjs").SeedRows} SeedRows
 * @typedef {import("./model.mjs").SectionRows} SectionRows
 * @typedef {import("./model.mjs").RuleRow} RuleRow
 * @typedef {import("./model.mjs").SentenceRow} SentenceRow
 */

const STATES = /** @type {const} */ (["met", "partly", "not yet", "later", "open", "outside"]);

const HEAD = `# Conformance

Which sentence of the seeds is held by which rule, in the seeds' own order. Written by
\`node packages/workspace/bin/conformance.mjs\` from every \`SPEC.md\`, the titles of the tests, and the maps in
[conformance/](conformance/README.md); \`npm test\` fails while this page is not what it would write.

A sentence is named by words of it. Every sentence of the seeds with MUST, FORBIDDEN, RULED or NEVER is here, and beside
them the others that say what has to happen. Seeds 002 (events for other systems) and 004 (attention) are not on this page: what
they describe is not served yet ([EX-X3, EX-X4, CL-X2](deltas/README.md)).

| state | the sentence |
|---|---|
| met | has rules, and each of them holds: its code and its tests are in the table below |
| partly | has rules that hold and a part that does not yet, which is named |
| not yet | has rules, which stand under "Not yet" in their \`SPEC.md\` |
| later | waits for a part that no rule describes yet |
| open | is held by no rule: the words say what is missing |
| outside | binds nothing here: the words say why |
`;

/** The page. @param {Conformance} conformance @returns {string} */
export function render(conformance) {
  const { seeds, elsewhere } = conformance;
  const parts = [
    HEAD,
    `## Counts\n\n${countTable(seeds)}`,
    `## Not held\n\n${notHeld(seeds)}`,
    ...seeds.map(renderSeed),
    `## Rules from elsewhere\n\n${elsewhereTable(elsewhere)}`,
  ];
  return `${parts.map((part) => part.trim()).join("\n\n")}\n`;
}

/** @param {readonly SeedRows[]} seeds */
function countTable(seeds) {
  const rows = seeds.map(({ seed, title, sections }) => {
    const sentences = sections.flatMap((section) => section.sentences);
    const rules = [...new Set(sections.flatMap((section) => section.rules))];
    const met = rules.filter((rule) => !rule.notYet).length;
    return [
      `[${seed} ${title}](#${anchor(seedHeading(seed, title))})`,
      sentences.length,
      ...STATES.map((state) => sentences.filter((sentence) => sentence.state === state).length),
      `${met} of ${rules.length}`,
    ];
  });
  return table(["seed", "sentences", ...STATES, "rules met"], rows);
}

/** @param {readonly SeedRows[]} seeds */
function notHeld(seeds) {
  const rows = seeds.flatMap(({ seed, sections }) =>
    sections.flatMap(({ id, sentences }) =>
      sentences
        .filter(({ open }) => open !== undefined)
        .map(({ quote, open }) => [`${seed} ${id}`, `“${quote}”`, open ?? ""]),
    ),
  );
  return rows.length === 0
    ? "Nothing: every sentence has its rules, or waits for a part that is named."
    : `Sentences, or parts of them, that no rule stands for.\n\n${table(["place", "sentence", "what is missing"], rows)}`;
}

/** @param {SeedRows} seed */
function renderSeed({ seed, title, sections }) {
  const parts = sections.map((section) => renderSection(seed, section));
  return [`## ${seedHeading(seed, title)}`, ...parts].join("\n\n");
}

/** @param {string} seed @param {SectionRows} section */
function renderSection(seed, { id, title, sentences, rules }) {
  const heading = `### Seed ${seed} ${id}${title === "" ? "" : `: ${title}`}`;
  const parts = [heading];
  if (sentences.length > 0)
    parts.push(table(["sentence", "rules", "state"], sentences.map(sentenceRow)));
  if (rules.length > 0)
    parts.push(table(["rule", "says", "package", "code", "tests", "state"], rules.map(ruleRow)));
  if (parts.length === 1) parts.push("Says nothing that binds, and no rule cites it.");
  return parts.join("\n\n");
}

/** @param {SentenceRow} sentence */
function sentenceRow({ quote, rules = [], later, open, outside, note, state }) {
  const words = [later, open, outside, note].filter((each) => each !== undefined);
  const said = words.length === 0 ? state : `${state}: ${words.join("; ")}`;
  return [`“${quote}”`, rules.join(", "), said];
}

/** @param {RuleRow} rule */
function ruleRow(rule) {
  return [
    `[${rule.id}](${specOf(rule)})`,
    rule.sentence,
    shortPackage(rule.package),
    rule.code
      .map((path) => `[${path.replace(/^src\//u, "")}](../${rule.package}/${path})`)
      .join(" "),
    rule.tests.map((file) => `[${shortTest(rule, file)}](../${file})`).join(" "),
    rule.notYet ? "not yet" : "met",
  ];
}

/** Where a rule stands: under its heading, where it has one. @param {RuleRow} rule */
function specOf(rule) {
  const heading = anchor(rule.heading);
  return `../${rule.package}/SPEC.md${heading === "" ? "" : `#${heading}`}`;
}

/** @param {string} name */
const shortPackage = (name) => name.replace(/^(?:packages|apps)\//u, "");

/** A test of another package keeps that package's name. @param {RuleRow} rule @param {string} file */
function shortTest(rule, file) {
  const inside = `${rule.package}/`;
  const name = file.startsWith(inside) ? file.slice(inside.length) : shortPackage(file);
  return name.replace(/(^|\/)(?:test|src)\//u, "$1").replace(/(?:\.test)?\.[cm]?[jt]sx?$/u, "");
}

/** @param {readonly RuleRow[]} rules */
function elsewhereTable(rules) {
  const packages = [...new Set(rules.map((rule) => rule.package))];
  const rows = packages.map((name) => {
    const own = rules.filter((rule) => rule.package === name);
    return [`[${name}](../${name}/SPEC.md)`, own.length, own.filter((rule) => rule.notYet).length];
  });
  return `Rules that come from other documents or from the project itself.\n\n${table(["package", "rules", "of them not yet"], rows)}`;
}

/** @param {readonly string[]} head @param {readonly (readonly (string | number)[])[]} rows */
function table(head, rows) {
  const line = (/** @type {readonly (string | number)[]} */ cells) =>
    `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** @param {string} seed @param {string} title */
const seedHeading = (seed, title) => `Seed ${seed}: ${title}`;

/** The anchor that a heading makes. @param {string} heading */
const anchor = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
