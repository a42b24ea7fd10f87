import { isTidemarkError } from "@tidemark/protocol";

/** An error as the log holds it: no stack, no details, which may hold what somebody wrote. */
export interface LoggedError {
  readonly code: string;
  readonly message: string;
}

const MESSAGE_MAX = 400;

/** What may be said of an error in a log. */
export function describeError(error: unknown): LoggedError {
  const message = error instanceof Error ? error.message : String(error);
  return { code: codeOf(error), message: message.slice(0, MESSAGE_MAX) };
}

/** Names that the language gives; any other is somebody's own text. */
const BUILT_IN: ReadonlySet<string> = new Set([
  "AggregateError",
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
]);
const PLACE = /^ {4}at .*?([\w.-]+\.[cm]?[jt]sx?:\d+:\d+)\)?$/mu;

/**
 * What may be said of an error that a pattern's code, or a performer's, may have thrown. Its words may hold values of
 * cells: whoever wrote it may have put them in, and `JSON.parse` quotes what it was given. So what it is and where it
 * was thrown stand for them; an error of ours says nothing but ids and paths.
 */
export function describeForeignError(error: unknown): LoggedError {
  if (isTidemarkError(error)) return describeError(error);
  return { code: "thrown", message: wordsAbout(error) };
}

/** Getters and proxies of somebody else's are read here: they may throw in turn. */
function wordsAbout(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `a ${error === null ? "null" : typeof error} was thrown`;
    const { name, message, stack = "" } = error;
    const kind = BUILT_IN.has(name) ? name : "Error";
    // The stack begins with the words, in which lines like its own may stand.
    const at = stack.indexOf(message);
    const place = at === -1 ? undefined : PLACE.exec(stack.slice(at + message.length))?.[1];
    return place === undefined ? kind : `${kind} at ${place}`;
  } catch {
    return "something that cannot be read was thrown";
  }
}

function codeOf(error: unknown): string {
  if (isTidemarkError(error)) return error.code;
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "internal";
}
