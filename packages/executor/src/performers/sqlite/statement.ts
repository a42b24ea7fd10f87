import type { EffectError } from "../../effects/performer.js";
import { failure } from "../failure.js";

/** What a query may begin with: everything else changes something, or tells of the engine. */
const QUERIES: ReadonlySet<string> = new Set(["select", "values", "with"]);

/**
 * Comments and space, then a quoted name or text (a doubled quote stands for itself), a name in brackets, or a word.
 * What is none of these (numbers, operators) cannot name a table. What is not closed goes to the end, so that no text
 * is read twice.
 */
const TOKEN =
  /(?<skipped>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s;]+)|"(?<double>(?:[^"]|"")*)(?:"|$)|`(?<tick>(?:[^`]|``)*)(?:`|$)|'(?<text>(?:[^']|'')*)(?:'|$)|\[(?<bracket>[^\]]*)(?:\]|$)|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|[\s\S]/gu;

/**
 * Refuses every statement but a query, and the table-valued pragmas inside one: they tell where files lie. SQLite
 * itself judges the rest: that there is one statement, and that it writes nothing.
 *
 * @throws EffectError "refused" (reason `statement`).
 */
export function checkStatement(statement: string): void {
  if (statement.includes("\0")) throw refused("a statement holds no NUL");
  let first: string | undefined;
  for (const token of tokens(statement)) {
    first ??= token.name === undefined ? token.other : token.name.toLowerCase();
    if (token.name !== undefined && token.name.toLowerCase().startsWith("pragma_")) {
      throw refused("names that begin with pragma_ are not for queries");
    }
  }
  if (first === undefined || !QUERIES.has(first)) {
    throw refused("a query begins with SELECT, VALUES or WITH");
  }
}

interface Token {
  /** Of a word or of what is quoted: SQLite takes even a quoted text for a name where it needs one. */
  readonly name: string | undefined;
  readonly other: string;
}

function* tokens(statement: string): Generator<Token> {
  for (const match of statement.matchAll(TOKEN)) {
    const { skipped, double, tick, text, bracket, word } = match.groups ?? {};
    if (skipped !== undefined) continue;
    const quoted = double?.replaceAll('""', '"') ?? tick?.replaceAll("``", "`");
    const name = quoted ?? text?.replaceAll("''", "'") ?? bracket ?? word;
    yield { name, other: match[0] };
  }
}

function refused(words: string): EffectError {
  return failure("refused", "statement", `sqliteQuery: ${words}`);
}
