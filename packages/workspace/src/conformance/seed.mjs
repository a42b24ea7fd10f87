/** Words by which a seed binds its reader. */
const BINDING = /\b(?:MUST|FORBIDDEN|RULED|NEVER)\b/u;

/**
 * @typedef {{ id: string, title: string }} Section
 * @typedef {{ section: string, text: string }} SeedSentence
 */

/**
 * The sections of a seed in its order. A heading "## 3b. Title" is section "§3b"; one without a number is named by its
 * words. What stands before the first heading is "Preface".
 *
 * @param {string} text
 * @returns {(Section & { body: string })[]}
 */
export function sectionsOf(text) {
  const parts = text.split(/^(?=#{2,3} )/mu);
  return parts.map((body) => {
    const heading = /^#{2,3} (?:(\d+[a-z]?)\. )?(.*)$/mu.exec(body);
    if (!body.startsWith("#") || !heading || body.startsWith("# ")) {
      return { id: "Preface", title: "", body };
    }
    const [, number, title = ""] = heading;
    return number === undefined
      ? { id: title, title: "", body }
      : { id: `§${number}`, title, body };
  });
}

/**
 * The sentences of a seed, in its order, with marks of emphasis, comments and line breaks taken out.
 *
 * @param {string} text
 * @returns {SeedSentence[]}
 */
export function sentencesOf(text) {
  return sectionsOf(text).flatMap(({ id, body }) =>
    paragraphsOf(body).flatMap((paragraph) =>
      paragraph
        .split(/(?<=[.!?]["”)\]]*) +(?=["“(]*[A-Z`§(*])/u)
        .map((sentence) => ({ section: id, text: sentence })),
    ),
  );
}

/** The sentences that bind: those with MUST, FORBIDDEN, RULED or NEVER. @param {string} text */
export function bindingSentences(text) {
  return sentencesOf(text).filter((sentence) => BINDING.test(sentence.text));
}

/** A quote as it is looked for in a seed. @param {string} words */
export const plain = (words) => words.replace(/\*/gu, "").replace(/\s+/gu, " ").trim();

/** Paragraphs, list items and rows of tables, each on one line. @param {string} body */
function paragraphsOf(body) {
  /** @type {string[]} */
  const paragraphs = [""];
  for (const line of body.split("\n")) {
    const words = line.trim().replace(/^(?:\/\/|--|>) ?/u, "");
    if (/^(?:[-*] |\d+\. |\||#|```|$)/u.test(words)) paragraphs.push("");
    paragraphs.push(`${paragraphs.pop() ?? ""} ${words}`);
  }
  return paragraphs.map(plain).filter((paragraph) => paragraph !== "");
}
