/**
 * A place in a seed. Without a section the seed is cited as a whole.
 *
 * @typedef {{ seed: string, section?: string }} Citation
 */

/**
 * The seeds that a rule's source names, as in "seed 001 §3b, §3d; R16". A section belongs to the
 * seed before it, up to the next document that the source names.
 *
 * @param {string} source
 * @returns {Citation[]}
 */
export function readCitations(source) {
  return source
    .split(/(?=\bseed \d{3}\b)|(?:;|\b[\w-]+\.md\b)/u)
    .flatMap((part) => citationsOf(part ?? ""));
}

/** @param {string} part */
function citationsOf(part) {
  const seed = /^seed (\d{3})\b/u.exec(part)?.[1];
  if (seed === undefined) return [];
  const sections = [...part.matchAll(/§\d+[a-z]?/gu)].map(([section]) => ({ seed, section }));
  return sections.length > 0 ? sections : [{ seed }];
}
