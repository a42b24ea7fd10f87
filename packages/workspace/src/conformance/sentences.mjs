import { bindingSentences, plain, sentencesOf } from "./seed.mjs";

/**
 * One sentence of a seed, named by words of it, and what became of it here.
 *
 * @typedef {object} Entry
 * @property {string} section
 * @property {string} quote words of the sentence, 15 at most, as they stand in the seed
 * @property {readonly string[]} [rules] ids of the rules that hold it
 * @property {string} [later] what has to come first, where no rule stands for it yet
 * @property {string} [open] what is missing: a rule, a test, or the thing itself
 * @property {string} [outside] why the sentence binds nothing here
 * @property {string} [note]
 *
 * @typedef {"met" | "partly" | "not yet" | "later" | "open" | "outside"} State
 */

const KEYS = new Set(["section", "quote", "rules", "later", "open", "outside", "note"]);
const MAX_QUOTE_WORDS = 15;

/**
 * How far a sentence is held.
 *
 * @param {Entry} entry
 * @param {(id: string) => boolean} isMet
 * @returns {State}
 */
export function stateOf(entry, isMet) {
  if (entry.outside !== undefined) return "outside";
  const rules = entry.rules ?? [];
  const met = rules.filter(isMet).length;
  const missing = rules.length - met + (entry.later ? 1 : 0) + (entry.open ? 1 : 0);
  if (missing === 0) return "met";
  if (met > 0) return "partly";
  if (entry.open !== undefined) return "open";
  return entry.later === undefined ? "not yet" : "later";
}

/**
 * What is wrong with a seed's map in itself: form, sections, and ids that no SPEC.md has.
 *
 * @param {string} seed
 * @param {readonly Entry[]} entries
 * @param {{ sections: ReadonlySet<string>, rules: ReadonlySet<string> }} known
 * @returns {string[]}
 */
export function problemsOfMap(seed, entries, known) {
  /** @type {Set<string>} */
  const seen = new Set();
  return entries.flatMap((entry) => {
    const at = `seed ${seed} ${entry.section} “${entry.quote}”`;
    const key = `${entry.section} ${entry.quote}`;
    const again = seen.has(key) ? [`${at}: stands twice`] : [];
    seen.add(key);
    return [...again, ...problemsOfEntry(entry, known).map((problem) => `${at}: ${problem}`)];
  });
}

/** @param {Entry} entry @param {{ sections: ReadonlySet<string>, rules: ReadonlySet<string> }} known */
function problemsOfEntry(entry, known) {
  const { section, quote, rules = [], later, open, outside } = entry;
  const problems = Object.keys(entry)
    .filter((key) => !KEYS.has(key))
    .map((key) => `"${key}" means nothing here`);
  if (!known.sections.has(section)) problems.push("the seed has no such section");
  if (quote.split(/\s+/u).length > MAX_QUOTE_WORDS) problems.push("the quote is over 15 words");
  for (const id of rules) if (!known.rules.has(id)) problems.push(`no SPEC.md has the rule ${id}`);
  const answers = [rules.length > 0 ? "rules" : undefined, later, open, outside].filter(Boolean);
  if (answers.length === 0) problems.push("says neither rules, later, open nor outside");
  if (outside && answers.length > 1) problems.push("is outside, and is not");
  return problems;
}

/**
 * What is wrong with a map beside its seed: quotes that no sentence of their section holds, entries that stand out of
 * the seed's order, and binding sentences that no entry quotes.
 *
 * @param {string} seed
 * @param {readonly Entry[]} entries
 * @param {string} text the seed itself
 * @returns {string[]}
 */
export function problemsBesideSeed(seed, entries, text) {
  const all = sentencesOf(text);
  const problems = [];
  let before = -1;
  for (const { section, quote } of entries) {
    const words = plain(quote);
    const holds = (/** @type {{ section: string, text: string }} */ sentence) =>
      sentence.section === section && sentence.text.includes(words);
    const at = all.findIndex((sentence, place) => place >= before && holds(sentence));
    if (at >= 0) before = at;
    else if (all.some(holds)) problems.push(`seed ${seed} ${section} “${quote}”: out of order`);
    else problems.push(`seed ${seed} ${section} “${quote}”: not in the seed`);
  }
  const unquoted = bindingSentences(text).filter(
    ({ section, text: sentence }) =>
      !entries.some((entry) => entry.section === section && sentence.includes(plain(entry.quote))),
  );
  for (const { section, text: sentence } of unquoted) {
    problems.push(`seed ${seed} ${section}: nothing says what became of “${short(sentence)}”`);
  }
  return problems;
}

/** @param {string} sentence */
const short = (sentence) => sentence.split(" ").slice(0, MAX_QUOTE_WORDS).join(" ");
