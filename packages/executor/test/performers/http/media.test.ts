import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import { bodyValue } from "../../../src/performers/http/media.js";

const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding);

function reasonOf(body: Uint8Array, type?: string): string | undefined {
  try {
    return `it was taken: ${JSON.stringify(bodyValue(body, type))}`;
  } catch (error) {
    return error instanceof EffectError ? error.details.reason : String(error);
  }
}

test("[EX-Y11] a body is JSON where its type says so", () => {
  for (const type of [
    "application/json",
    "Application/JSON; charset=utf-8",
    "text/json",
    "application/problem+json;v=1",
  ]) {
    expect(bodyValue(bytes('{"a":[1,null]}'), type)).toEqual({ a: [1, null] });
  }
  expect(bodyValue(bytes("\uFEFF1"), "application/json")).toBe(1);
});

test("[EX-Y11] other text is text, even where it looks like JSON", () => {
  expect(bodyValue(bytes('{"a":1}'), "text/plain")).toBe('{"a":1}');
  expect(bodyValue(bytes("é"), undefined)).toBe("é");
  expect(bodyValue(bytes("<a/>"), "image/svg+xml")).toBe("<a/>");
  expect(bodyValue(bytes(""), "text/html")).toBe("");
});

test("[EX-Y11] text is decoded by its charset, and never repaired", () => {
  expect(bodyValue(bytes("é", "latin1"), "text/plain; charset=ISO-8859-1")).toBe("é");
  expect(bodyValue(bytes("é", "utf16le"), 'text/plain; charset="utf-16le"')).toBe("é");
  expect(reasonOf(bytes("é", "latin1"), "text/plain")).toBe("charset");
  expect(reasonOf(bytes("x"), "text/plain; charset=klingon")).toBe("charset");
  expect(reasonOf(bytes("é", "latin1"), "application/json")).toBe("charset");
});

test("[EX-Y11] what is neither JSON nor text is refused", () => {
  for (const type of ["image/png", "application/octet-stream", "multipart/form-data", "x"]) {
    expect(reasonOf(bytes("x"), type)).toBe("media-type");
  }
});

test("[EX-Y11] JSON that is none, or that no document may hold, is refused", () => {
  const json = (text: string) => reasonOf(bytes(text), "application/json");
  expect(json("")).toBe("json");
  expect(json('{"a":')).toBe("json");
  expect(json("NaN")).toBe("json");
  expect(json('"\\ud800"')).toBe("json");
  expect(json("1e999")).toBe("json");
  expect(json(`${"[".repeat(100)}${"]".repeat(100)}`)).toBe("json");
});

test("[EX-Y11] a key that could reach a prototype stays data", () => {
  const value = bodyValue(bytes('{"__proto__":{"x":1}}'), "application/json");
  expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
  expect(({} as { readonly x?: unknown }).x).toBeUndefined();
});
