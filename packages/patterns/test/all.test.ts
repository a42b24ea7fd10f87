import { listNodes, PatternRegistry } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { samplePatterns } from "../src/index.js";

test("[PA-A1] all samples stand beside each other in one registry", () => {
  expect(new PatternRegistry(samplePatterns).all()).toHaveLength(samplePatterns.length);
});

test("[PA-A2] every handler has a title and a payload schema that forms can be made of", () => {
  const handlers = samplePatterns.flatMap((one) =>
    listNodes(one).filter(({ kind }) => kind === "handler"),
  );

  expect(handlers.length).toBeGreaterThan(0);
  for (const handler of handlers) {
    expect(handler.title, handler.name).toBeTypeOf("string");
    const { properties = {} } = handler.schema as { properties?: Record<string, object> };
    for (const [field, schema] of Object.entries(properties)) {
      expect(schema, `${handler.name}.${field}`).toHaveProperty("title");
    }
  }
});
