const ID = /\[([A-Z]{2,}-[A-Z]*\d+)\]/gu;

/** The first argument of `test(…)`, `it(…)`, `describe(…)`, and of what such a call returns. */
const TITLE = /(?:\b(?:test|it|describe)(?:\.\w+)*|[)`])\s*\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/gu;

/** A text that begins with an id: contract suites keep their titles in tables of cases. */
const CASE = /(["'`])((?:\[[A-Z]{2,}-[A-Z]*\d+\]\s*)+)/gu;

/**
 * The ids of the rules that the titles in a test file carry, each once.
 *
 * @param {string} source
 * @returns {string[]}
 */
export function idsInTitles(source) {
  const texts = [TITLE, CASE].flatMap((pattern) =>
    [...source.matchAll(pattern)].map((match) => match[2] ?? ""),
  );
  const ids = texts.flatMap((text) => [...text.matchAll(ID)].map((match) => match[1] ?? ""));
  return [...new Set(ids)];
}
