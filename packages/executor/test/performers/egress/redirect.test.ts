import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import { type Hop, isRedirect, nextHop } from "../../../src/performers/egress/redirect.js";

const BODY = new TextEncoder().encode("x");
const HEADERS = {
  accept: "*/*",
  "content-type": "text/plain",
  "content-language": "en",
  "x-key": "k",
};

function hop(method: string, url = "https://a.example/one"): Hop {
  const body = method === "GET" || method === "HEAD" ? undefined : BODY;
  return { url: new URL(url), method, headers: HEADERS, body };
}

test("[EX-Y6] five statuses are redirects", () => {
  expect([300, 301, 302, 303, 304, 305, 306, 307, 308, 200].filter(isRedirect)).toEqual([
    301, 302, 303, 307, 308,
  ]);
});

test.each([
  [301, "POST", "GET"],
  [302, "POST", "GET"],
  [303, "POST", "GET"],
  [303, "PUT", "GET"],
  [303, "DELETE", "GET"],
  [301, "PUT", "PUT"],
  [302, "DELETE", "DELETE"],
  [307, "POST", "POST"],
  [308, "PATCH", "PATCH"],
  [303, "HEAD", "HEAD"],
  [301, "HEAD", "HEAD"],
  [302, "GET", "GET"],
])("[EX-Y6] %i turns %s into %s, with or without its body", (status, method, then) => {
  const before = hop(method);
  const next = nextHop(before, status, "/two");
  expect(next.method).toBe(then);
  expect(next.body).toBe(then === method ? before.body : undefined);
  expect(Object.keys(next.headers)).toEqual(
    then === method ? Object.keys(HEADERS) : ["accept", "x-key"],
  );
});

test("[EX-Y6] a location is read against the URL that answered", () => {
  const urlOf = (location: string): string => nextHop(hop("GET"), 302, location).url.href;
  expect(urlOf("two?x#y")).toBe("https://a.example/two?x#y");
  expect(urlOf("//b.example/")).toBe("https://b.example/");
  expect(urlOf("https://b.example:8443/z")).toBe("https://b.example:8443/z");
});

test.each(["https://b.example/", "https://a.example:444/", "//a.example.evil/"])(
  "[EX-Y6] another origin (%s) gets only headers that say nothing of who asks",
  (location) => {
    const { headers } = nextHop(hop("POST"), 307, location);
    expect(Object.keys(headers)).toEqual(["accept", "content-type"]);
  },
);

test("[EX-Y5] what began under TLS does not go on without it, the other way it may", () => {
  expect(() => nextHop(hop("GET"), 302, "http://a.example/")).toThrow(EffectError);
  expect(nextHop(hop("GET", "http://a.example/"), 302, "https://a.example/").url.protocol).toBe(
    "https:",
  );
});

test("[EX-Y5] a location that is no URL is the other side's error", () => {
  expect(() => nextHop(hop("GET"), 302, "http://[")).toThrow(
    expect.objectContaining({ details: { kind: "provider", reason: "redirect" } }),
  );
});
