import { counter, groupChat, lunchPoll } from "@tidemark/patterns";
import { listNodes, type Pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { emptyDraft, readDraft } from "../src/form/payload.js";
import { fieldsOf, spoken } from "../src/form/schema.js";

function handlerFields(pattern: unknown, name: string) {
  const node = listNodes(pattern as Pattern).find((one) => one.name === name);
  return fieldsOf(node?.schema);
}

test("the sample patterns' handlers become inputs with their titles, bounds and defaults", () => {
  expect(handlerFields(lunchPoll, "vote")).toMatchObject([
    { key: "option", label: "Option", kind: "text", required: true, minLength: 1, maxLength: 80 },
  ]);
  expect(handlerFields(counter, "increment")).toMatchObject([
    { key: "by", label: "By", kind: "number", integer: true, required: false, initial: 1 },
  ]);
  expect(handlerFields(groupChat, "post")).toMatchObject([{ label: "Message", kind: "long-text" }]);
  expect(handlerFields(lunchPoll, "retract")).toEqual([]);
});

const ALL = fieldsOf({
  type: "object",
  required: ["name", "size", "tags", "kind"],
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5 },
    size: { type: "integer", minimum: 1, maximum: 9 },
    on: { type: "boolean", default: true },
    kind: { enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string" } },
    rest: { type: "object" },
  },
});

test("every kind of input is read into the payload that its schema asks for", () => {
  expect(ALL.map(({ kind }) => kind)).toEqual([
    "text",
    "number",
    "switch",
    "choice",
    "lines",
    "json",
  ]);
  const draft = {
    name: " Ana ",
    size: "3",
    on: false,
    kind: "b",
    tags: "x\n\n y ",
    rest: '{"a":[1]}',
  };
  expect(readDraft(ALL, draft)).toEqual({
    ok: true,
    payload: { name: "Ana", size: 3, on: false, kind: "b", tags: ["x", "y"], rest: { a: [1] } },
  });
});

test("what is left out stays out where it may, and is asked for where it may not", () => {
  expect(readDraft(ALL, emptyDraft(ALL))).toEqual({
    ok: false,
    problems: {
      name: "Please fill this in.",
      size: "Please fill this in.",
      kind: "Please fill this in.",
    },
  });
});

test.each([
  [{ name: "A" }, "name", "At least 2 characters."],
  [{ name: "Annabel" }, "name", "At most 5 characters; this is 7."],
  [{ size: "many" }, "size", "This is no number."],
  [{ size: "1.5" }, "size", "A whole number, please."],
  [{ size: "0" }, "size", "At least 1."],
  [{ size: "10" }, "size", "At most 9."],
  [{ rest: "{a}" }, "rest", "This is no JSON: texts stand in double quotes."],
])("%j is refused in words", (typed, name, words) => {
  const read = readDraft(ALL, { ...emptyDraft(ALL), ...typed });
  expect(!read.ok && read.problems[name]).toBe(words);
});

test("a payload that is one value has one input, and one that is nothing has none", () => {
  const fields = fieldsOf({ type: "number", title: "How many" });
  expect(fields).toMatchObject([{ key: undefined, label: "How many", kind: "number" }]);
  expect(readDraft(fields, { value: "4" })).toEqual({ ok: true, payload: 4 });
  for (const schema of [undefined, {}, { type: "null" }, true]) {
    expect(readDraft(fieldsOf(schema), {})).toEqual({ ok: true, payload: null });
  }
});

test("names of code are said as words", () => {
  expect(spoken("addOption")).toBe("Add option");
  expect(spoken("lunch-poll")).toBe("Lunch poll");
});
