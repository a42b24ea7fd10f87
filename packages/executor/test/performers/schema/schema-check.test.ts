import type { JsonValue } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import { EffectError } from "../../../src/index.js";
import { schemaCheck } from "../../../src/performers/schema/schema-check.js";
import { withinMs } from "../../../src/performers/schema/within.js";

const Person = z.strictObject({
  name: z.string().min(1),
  mail: z.email().optional(),
  tags: z.array(z.enum(["a", "b"])).default([]),
});

test("[EX-Y12] a value is judged by the schema that zod made of a type", () => {
  const check = schemaCheck(z.toJSONSchema(Person) as JsonValue);
  expect(check({ name: "x", mail: "x@y.example", tags: ["a"] })).toBeUndefined();
  expect(check({ name: "", tags: [] })).toContain("name: ");
  expect(check({ name: "x", tags: ["c"] })).toContain("tags.0: ");
  expect(check({ name: "x", tags: [], mail: "no" })).toContain("mail: ");
  expect(check({ name: "x", tags: [], other: 1 })).toContain("other");
  expect(check([])).toBeTypeOf("string");
});

test("[EX-Y12] a default does not stand in for what is missing", () => {
  const check = schemaCheck({
    type: "object",
    properties: { default: { type: "string", default: "x" }, list: { enum: [{ default: 1 }] } },
    required: ["default"],
  });
  expect(check({})).toContain("default");
  expect(check({ default: "y" })).toBeUndefined();
});

test("[EX-Y12] a schema may refer to itself", () => {
  const check = schemaCheck({
    $ref: "#/$defs/tree",
    $defs: {
      tree: {
        type: "object",
        properties: { kids: { type: "array", items: { $ref: "#/$defs/tree" } } },
        required: ["kids"],
        additionalProperties: false,
      },
    },
  });
  expect(check({ kids: [{ kids: [] }] })).toBeUndefined();
  expect(check({ kids: [{}] })).toContain("kids.0.kids");
});

test.each<[string, JsonValue]>([
  ["a text", "string"],
  ["a list", []],
  ["an unknown type", { type: "colour" }],
  ["a condition", { if: { type: "string" }, else: { minLength: 1 } }],
  ["a reference to elsewhere", { $ref: "https://a.example/schema" }],
  ["a reference to nothing", { $ref: "#/$defs/none" }],
  ["a pattern that is none", { type: "string", pattern: "(" }],
])("[EX-Y12] %s is no schema that can be checked", (_what, schema) => {
  expect(() => schemaCheck(schema)("x")).toThrow(EffectError);
});

test("[EX-Y12] a pattern that explodes is cut off, and the value does not pass", () => {
  const check = schemaCheck({ type: "string", pattern: "^(a+)+$" });
  expect(check("aaa")).toBeUndefined();
  expect(check(`${"a".repeat(60)}!`)).toBe("the schema cannot be checked in time");
});

test("[EX-Y12] work on this thread is interrupted, and its errors pass through", () => {
  expect(withinMs(1_000, () => 7)).toBe(7);
  expect(() => withinMs(1_000, () => expect.fail("mine"))).toThrow("mine");
  expect(() => withinMs(20, () => /^(a+)+$/u.test(`${"a".repeat(60)}!`))).toThrow("timed out");
});
