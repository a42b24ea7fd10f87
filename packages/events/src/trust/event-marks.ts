import { jsonEqual, validateJson, type JsonValue } from "@tidemark/protocol";

/**
 * What the runtime that fired an event attests of it, and no payload can (seed 000 §2). The entry carries
 * it, the served dispatch marks the payload with it again, and what a handler forwards keeps it.
 */
export interface EventMarks {
  /** A person acted on what a renderer shows. Absent: not attested. */
  readonly rendererTrusted?: true;
  /** Keys of the payload that the firing runtime put there, and no author of a payload. */
  readonly runtimeInjectedEventKeys?: readonly string[];
}

interface Marked {
  readonly marks: EventMarks;
  /** The payload as it was marked. */
  readonly content: JsonValue;
}

const NO_MARKS: EventMarks = Object.freeze({});

/**
 * By the object itself: what is equal to it, or copied from it, is another object. Pattern code imports
 * the runtime alone, which does not hand this on.
 */
const marked = new WeakMap<object, Marked>();

/** The marks among the fields of an entry, and nothing else of it. */
export function marksIn(entry: EventMarks): EventMarks {
  const { rendererTrusted, runtimeInjectedEventKeys: keys } = entry;
  if (rendererTrusted === undefined && keys === undefined) return NO_MARKS;
  return {
    ...(rendererTrusted === undefined ? {} : { rendererTrusted }),
    ...(keys === undefined ? {} : { runtimeInjectedEventKeys: keys }),
  };
}

/** Marks a payload in this process. A scalar is no object to be known by, and stays unmarked. */
export function markEvent(payload: unknown, marks: EventMarks): void {
  const own = marksIn(marks);
  if (typeof payload !== "object" || payload === null || own === NO_MARKS) return;
  // A copy: code that is handed the payload may write to it.
  const content = validateJson(payload);
  if (content.ok) marked.set(payload, { marks: own, content: content.value });
}

/**
 * The marks that an object which is sent brings along; `content` is what is stored of it. None where it is
 * not what was marked any more: a handler that writes to its payload says something of its own.
 */
export function marksOf(payload: unknown, content: JsonValue): EventMarks {
  if (typeof payload !== "object" || payload === null) return NO_MARKS;
  const known = marked.get(payload);
  return known !== undefined && jsonEqual(known.content, content) ? known.marks : NO_MARKS;
}

/** What is wrong with the marks of an entry that comes as data, if anything is. */
export function marksProblem(entry: object): string | undefined {
  const { rendererTrusted, runtimeInjectedEventKeys: keys } = entry as Record<string, unknown>;
  if (rendererTrusted !== undefined && rendererTrusted !== true) {
    return "attests a renderer by another value than true";
  }
  if (keys === undefined) return undefined;
  const isList = Array.isArray(keys) && keys.every((key) => typeof key === "string");
  return isList ? undefined : "names injected keys that are no list of keys";
}
