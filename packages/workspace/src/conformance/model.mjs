import { problemsBesideSeed, problemsOfMap, stateOf } from "./sentences.mjs";
import { readSpec } from "./spec.mjs";
import { idsInTitles } from "./titles.mjs";

/**
 * @typedef {import("./spec.mjs").Rule} Rule
 * @typedef {import("./sentences.mjs").Entry} Entry
 * @typedef {import("./sentences.mjs").State} State
 *
 * @typedef {{ seed: string, title: string, file: string, sections: readonly import("./seed.mjs").Section[] }} SeedIndex
 *
 * What is read of the tree. Paths are relative to the project's root, with forward slashes.
 * @typedef {object} Sources
 * @property {readonly SeedIndex[]} seeds
 * @property {Readonly<Record<string, readonly Entry[]>>} sentences by seed
 * @property {Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>} code by package, then by heading or rule
 * @property {readonly { package: string, text: string }[]} specs
 * @property {readonly { file: string, text: string }[]} tests
 * @property {Readonly<Record<string, string>>} seedTexts of the seeds that are at hand
 * @property {(path: string) => boolean} exists
 *
 * @typedef {Rule & { tests: readonly string[], code: readonly string[] }} RuleRow
 * @typedef {Entry & { state: State }} SentenceRow
 * @typedef {{ id: string, title: string, sentences: readonly SentenceRow[], rules: readonly RuleRow[] }} SectionRows
 * @typedef {{ seed: string, title: string, sections: readonly SectionRows[] }} SeedRows
 * @typedef {{ seeds: readonly SeedRows[], elsewhere: readonly RuleRow[], problems: readonly string[] }} Conformance
 */

/** What the sentences of the seeds come to in this project. @param {Sources} sources @returns {Conformance} */
export function conformanceOf(sources) {
  const rules = rowsOf(sources);
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const isMet = (/** @type {string} */ id) => byId.get(id)?.notYet === false;
  const seeds = sources.seeds.map((index) => ({
    seed: index.seed,
    title: index.title,
    sections: sectionsOf(index, sources.sentences[index.seed] ?? [], rules, isMet),
  }));
  const shown = new Set(
    seeds.flatMap(({ sections }) => sections.flatMap((section) => section.rules)),
  );
  return {
    seeds,
    elsewhere: rules.filter((rule) => !shown.has(rule)),
    problems: [
      ...problemsOfMaps(sources, byId),
      ...problemsOfCitations(sources, rules),
      ...problemsOfCode(sources, rules, shown),
    ],
  };
}

/** @param {Sources} sources @returns {RuleRow[]} */
function rowsOf({ specs, tests, code }) {
  /** @type {Map<string, string[]>} */
  const cited = new Map();
  for (const { file, text } of tests) {
    for (const id of idsInTitles(text)) cited.set(id, [...(cited.get(id) ?? []), file]);
  }
  return specs.flatMap((spec) =>
    readSpec(spec.text, spec.package).map((rule) => {
      const places = code[rule.package] ?? {};
      const own = places[rule.id] ?? places[rule.heading] ?? [];
      return { ...rule, tests: cited.get(rule.id) ?? [], code: rule.notYet ? [] : own };
    }),
  );
}

/**
 * @param {SeedIndex} index
 * @param {readonly Entry[]} entries
 * @param {readonly RuleRow[]} rules
 * @param {(id: string) => boolean} isMet
 * @returns {SectionRows[]}
 */
function sectionsOf({ seed, sections }, entries, rules, isMet) {
  const whole = rules.filter((rule) =>
    rule.citations.some((citation) => citation.seed === seed && citation.section === undefined),
  );
  const parts = sections.map(({ id, title }) => {
    const own = entries.filter((entry) => entry.section === id);
    const named = new Set(own.flatMap((entry) => entry.rules ?? []));
    return {
      id,
      title,
      sentences: own.map((entry) => ({ ...entry, state: stateOf(entry, isMet) })),
      rules: rules.filter((rule) => named.has(rule.id) || cites(rule, seed, id)),
    };
  });
  const placed = new Set(parts.flatMap((part) => part.rules));
  const rest = whole.filter((rule) => !placed.has(rule));
  return rest.length === 0
    ? parts
    : [...parts, { id: "as a whole", title: "", sentences: [], rules: rest }];
}

/** @param {Rule} rule @param {string} seed @param {string} section */
function cites(rule, seed, section) {
  return rule.citations.some((citation) => citation.seed === seed && citation.section === section);
}

/** @param {Sources} sources @param {ReadonlyMap<string, RuleRow>} byId */
function problemsOfMaps({ seeds, sentences, seedTexts }, byId) {
  const rules = new Set(byId.keys());
  return seeds.flatMap(({ seed, sections }) => {
    const entries = sentences[seed] ?? [];
    const known = { sections: new Set(sections.map(({ id }) => id)), rules };
    const text = seedTexts[seed];
    return [
      ...problemsOfMap(seed, entries, known),
      ...(text === undefined ? [] : problemsBesideSeed(seed, entries, text)),
    ];
  });
}

/** Sections that a rule cites and the index does not have. @param {Sources} sources @param {readonly RuleRow[]} rules */
function problemsOfCitations({ seeds }, rules) {
  const indexed = new Map(
    seeds.map(({ seed, sections }) => [seed, new Set(sections.map(({ id }) => id))]),
  );
  return rules.flatMap((rule) =>
    rule.citations
      .filter(({ seed, section }) => section && indexed.get(seed)?.has(section) === false)
      .map(({ seed, section }) => `${rule.id} cites seed ${seed} ${section}, which is none`),
  );
}

/**
 * A rule that is shown and met has code and a test, and what `code.json` names is there.
 *
 * @param {Sources} sources
 * @param {readonly RuleRow[]} rules
 * @param {ReadonlySet<RuleRow>} shown
 */
function problemsOfCode({ code, exists }, rules, shown) {
  const names = new Set(
    rules.flatMap((rule) => [`${rule.package} ${rule.id}`, `${rule.package} ${rule.heading}`]),
  );
  const dead = Object.entries(code).flatMap(([pkg, places]) =>
    Object.entries(places).flatMap(([name, paths]) => [
      ...(names.has(`${pkg} ${name}`) ? [] : [`code.json: ${pkg}/SPEC.md has no “${name}”`]),
      ...paths
        .filter((path) => !exists(`${pkg}/${path}`))
        .map((path) => `code.json: ${pkg}/${path} is not there`),
    ]),
  );
  const bare = rules
    .filter((rule) => shown.has(rule) && !rule.notYet)
    .flatMap((rule) => [
      ...(rule.tests.length > 0 ? [] : [`${rule.id} stands in no test's title`]),
      ...(rule.code.length > 0
        ? []
        : [`code.json names no code for ${rule.id} (${rule.package}, “${rule.heading}”)`]),
    ]);
  return [...dead, ...bare];
}
