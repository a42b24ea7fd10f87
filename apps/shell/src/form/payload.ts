import type { Field } from "./schema.js";

/** What is typed so far, by input. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** The payload of a draft, or what is wrong with it, by input. */
export type ReadDraft =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly problems: Readonly<Record<string, string>> };

type Read = { readonly value: unknown } | { readonly problem: string } | undefined;

/** The name of an input within its form. */
export function inputName(field: Field): string {
  return field.key ?? "value";
}

/** A form as it is before anything is typed. */
export function emptyDraft(fields: readonly Field[]): Draft {
  return Object.fromEntries(fields.map((field) => [inputName(field), initialOf(field)]));
}

/** Reads what was typed. `undefined` parts that are not required are left out. */
export function readDraft(fields: readonly Field[], draft: Draft): ReadDraft {
  const problems: Record<string, string> = {};
  const payload: [string, unknown][] = [];
  let whole: unknown;
  for (const field of fields) {
    const read = readField(field, draft[inputName(field)]);
    if (read === undefined) continue;
    if ("problem" in read) problems[inputName(field)] = read.problem;
    else if (field.key === undefined) whole = read.value;
    else payload.push([field.key, read.value]);
  }
  if (Object.keys(problems).length > 0) return { ok: false, problems };
  const single = fields.length === 0 || fields[0]?.key === undefined;
  return { ok: true, payload: single ? (whole ?? null) : Object.fromEntries(payload) };
}

function initialOf({ kind, initial }: Field): string | boolean {
  if (kind === "switch") return initial === true;
  if (initial === undefined) return "";
  if (kind === "lines" && Array.isArray(initial)) return initial.join("\n");
  return typeof initial === "string" || typeof initial === "number"
    ? String(initial)
    : JSON.stringify(initial);
}

function readField(field: Field, typed: string | boolean | undefined): Read {
  if (field.kind === "switch") return { value: typed === true };
  const text = typeof typed === "string" ? typed.trim() : "";
  if (field.kind === "lines") return readLines(field, text);
  if (text === "") return field.required ? { problem: "Please fill this in." } : undefined;
  if (field.kind === "number") return readNumber(field, text);
  if (field.kind === "json") return readJson(text);
  return readText(field, text);
}

function readText({ minLength, maxLength }: Field, text: string): Read {
  const { length } = [...text];
  if (length < minLength) return { problem: `At least ${minLength} characters.` };
  if (maxLength !== undefined && length > maxLength) {
    return { problem: `At most ${maxLength} characters; this is ${length}.` };
  }
  return { value: text };
}

function readNumber({ integer, min, max }: Field, text: string): Read {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: "This is no number." };
  if (integer && !Number.isInteger(value)) return { problem: "A whole number, please." };
  if (min !== undefined && value < min) return { problem: `At least ${min}.` };
  if (max !== undefined && value > max) return { problem: `At most ${max}.` };
  return { value };
}

function readLines({ required }: Field, text: string): Read {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  return lines.length === 0 && !required ? undefined : { value: lines };
}

function readJson(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: "This is no JSON: texts stand in double quotes." };
  }
}
