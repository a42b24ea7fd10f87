import { isTidemarkError, type JsonValue } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { openAiCompatibleProvider, type OpenAiProviderOptions } from "../../../src/index.js";
import { failureOf, waysOf, wordsOf } from "../support/calls.js";
import { SECURE_EXAMPLE } from "../support/certificate.js";
import { ASK, completion, generatingFrom, KEY } from "../support/generating.js";
import { startServer } from "../support/local-server.js";
import { WatchedClock } from "../support/watched-clock.js";

const SCHEMA = {
  type: "object",
  properties: { mood: { enum: ["good", "bad"] } },
  required: ["mood"],
  additionalProperties: false,
};

function answering(content: string) {
  return startServer((_request, response) => {
    response.setHeader("content-type", "application/json; charset=utf-8");
    response.end(completion({ role: "assistant", content }));
  });
}

test("[EX-Y20] a text is the whole of a settled answer", async () => {
  const server = await answering("Well, é.");
  const { text, clock } = generatingFrom(server);
  expect(await text(ASK)).toBe("Well, é.");
  expect(clock.pendingTimers()).toBe(0);
  await server.quiet();
});

test("[EX-Y20] a request asks for one answer, not streamed, with the params that were given", async () => {
  const server = await answering("x");
  const { text } = generatingFrom(server);
  const messages = [
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    { role: "assistant", content: "a" },
  ];
  const params = { temperature: 0.5, topP: 0.9, maxTokens: 10, stop: ["\n"], seed: 7 };
  await text({ model: "large", messages, params });
  await text({ messages, model: null, params: null });
  const [first, second] = server.seen;
  expect(first).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
  expect(first?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    "content-type": "application/json",
  });
  const body = (seen = first): JsonValue => JSON.parse(seen?.body ?? "null") as JsonValue;
  expect(body()).toEqual({
    model: "large",
    stream: false,
    n: 1,
    messages,
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 10,
    stop: ["\n"],
    seed: 7,
  });
  expect(body(second)).toEqual({ model: "small", stream: false, n: 1, messages });
});

test("[EX-Y21] an object is what the answer holds, if it fits the schema", async () => {
  const server = await answering('{"mood":"good"}');
  const { object } = generatingFrom(server);
  expect(await object({ ...(ASK as object), schema: SCHEMA })).toEqual({ mood: "good" });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toMatchObject({
    response_format: { type: "json_schema", json_schema: { name: "result", schema: SCHEMA } },
  });
});

test("[EX-Y21] a server that knows JSON but no schemas is told the schema in words", async () => {
  const server = await answering('{"mood":"bad"}');
  const { object } = generatingFrom(server, { objectMode: "json-object" });
  expect(await object({ ...(ASK as object), schema: SCHEMA })).toEqual({ mood: "bad" });
  const sent = JSON.parse(server.seen[0]?.body ?? "") as { messages: { content: string }[] };
  expect(sent).toMatchObject({ response_format: { type: "json_object" } });
  expect(sent.messages[0]?.content).toContain(JSON.stringify(SCHEMA));
  expect(sent.messages).toHaveLength(2);
});

test.each([
  ["no JSON", "I am well.", "invalid json"],
  ["JSON in a fence", '```json\n{"mood":"good"}\n```', "invalid json"],
  ["JSON that breaks off", '{"mood":', "invalid json"],
  ["nothing", "", "invalid json"],
  ["another value", '{"mood":"mixed"}', "invalid mismatch"],
  ["a value too many", '{"mood":"good","why":1}', "invalid mismatch"],
  ["a list", "[]", "invalid mismatch"],
  ["text that no document may hold", '{"mood":"\\ud800"}', "invalid json"],
])("[EX-Y21] an answer that is %s is an error", async (_what, content, way) => {
  const { object } = generatingFrom(await answering(content));
  expect(await waysOf(object({ ...(ASK as object), schema: SCHEMA }))).toBe(way);
});

test("[EX-Y21] a schema that cannot be checked costs no request", async () => {
  const server = await answering("{}");
  const { object } = generatingFrom(server);
  const ask = (schema: JsonValue) => waysOf(object({ ...(ASK as object), schema }));
  expect(await ask({ type: "colour" })).toBe("invalid schema");
  expect(await ask("object")).toBe("invalid request");
  expect(await waysOf(object(ASK))).toBe("invalid request");
  expect(server.seen).toEqual([]);
});

test("[EX-Y22] only models that the operator named are asked", async () => {
  const server = await answering("x");
  const { text } = generatingFrom(server);
  expect(await waysOf(text({ ...(ASK as object), model: "huge" }))).toBe("refused model");
  expect(await waysOf(text({ ...(ASK as object), model: "" }))).toBe("invalid request");
  expect(server.seen).toEqual([]);
});

test.each<[string, JsonValue, string]>([
  ["no object", [], "invalid request"],
  ["no messages", {}, "invalid request"],
  ["an empty list of messages", { messages: [] }, "invalid request"],
  ["an unknown role", { messages: [{ role: "tool", content: "x" }] }, "invalid request"],
  ["content that is no text", { messages: [{ role: "user", content: [] }] }, "invalid request"],
  [
    "an unknown field",
    { messages: [{ role: "user", content: "x" }], tools: [] },
    "invalid request",
  ],
  ["an unknown param", { ...(ASK as object), params: { logprobs: true } }, "invalid request"],
  ["a param out of its range", { ...(ASK as object), params: { maxTokens: 0 } }, "invalid request"],
  [
    "very long messages",
    { messages: [{ role: "user", content: "x".repeat(2 * 1_048_576 + 1) }] },
    "too-large request",
  ],
])("[EX-Y23] a request with %s is refused before anything leaves", async (_what, request, way) => {
  const server = await answering("x");
  expect(await waysOf(generatingFrom(server).text(request))).toBe(way);
  expect(server.seen).toEqual([]);
});

test.each<[string, Partial<OpenAiProviderOptions>]>([
  ["url", { url: "api.example" }],
  ["url", { url: "ftp://api.example/v1" }],
  ["url", { url: `https://u:${KEY}@api.example/v1` }],
  ["url", { url: `https://api.example/v1?key=${KEY}` }],
  ["url", { url: "http://api.example/v1" }],
  ["url", { url: "http://10.0.0.1/v1" }],
  ["url", { url: "http://localhost.evil.example/v1" }],
  ["key", { key: "" }],
  ["key", { key: `${KEY}\r\nx: y` }],
  ["models", { models: [] }],
  ["models", { models: ["small", ""] }],
])(
  "[EX-Y24] %s that cannot be used is refused by name at the start, in words without the key: %o",
  (option, rest) => {
    const options = { clock: new WatchedClock(), url: "https://api.example/v1", key: KEY };
    try {
      openAiCompatibleProvider({ ...options, models: ["small"], ...rest });
      expect.unreachable("the option was taken");
    } catch (error) {
      expect(isTidemarkError(error, "protocol")).toBe(true);
      expect(error).toMatchObject({ details: { path: [option] } });
      expect(wordsOf(error as Error)).not.toContain(KEY);
    }
  },
);

test("[EX-Y24] a key goes over plain http to this machine alone; without one any host will do", () => {
  const at = (url: string, key?: string) =>
    openAiCompatibleProvider({ clock: new WatchedClock(), url, key, models: ["small"] });
  for (const host of ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"]) {
    expect(at(`http://${host}:8080/v1`, KEY)).toBeDefined();
  }
  expect(at("http://10.0.0.1:11434/v1")).toBeDefined();
  expect(at("https://api.example/v1/", KEY)).toBeDefined();
});

test("[EX-Y24] the key is in no header where there is none, and nowhere to be read in a provider", async () => {
  const server = await answering("x");
  const { text } = generatingFrom(server, { key: undefined });
  await text(ASK);
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
  const { provider } = generatingFrom(server);
  expect(JSON.stringify(provider) + String(provider) + Object.keys(provider).join()).not.toContain(
    KEY,
  );
});

test("[EX-Y24] a host that is not who it says it is gets no key", async () => {
  const server = await startServer((_request, response) => response.end("x"), SECURE_EXAMPLE);
  const error = await failureOf(generatingFrom(server).text(ASK));
  expect(error.details).toEqual({ kind: "network", reason: "tls" });
  expect(server.seen).toEqual([]);
});
