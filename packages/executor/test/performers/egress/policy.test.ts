import { isTidemarkError } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import {
  addressAllowed,
  type EgressOptions,
  egressPolicy,
  targetOf,
} from "../../../src/performers/egress/policy.js";

function verdict(url: string, options: EgressOptions = {}): string {
  try {
    const { host, port } = targetOf(egressPolicy(options), new URL(url));
    return `${host} ${port}`;
  } catch (error) {
    if (error instanceof EffectError) return `${error.kind} ${error.details.reason}`;
    throw error;
  }
}

test("[EX-Y1] a URL names its host and port, or the scheme's", () => {
  expect(verdict("http://a.example/x")).toBe("a.example 80");
  expect(verdict("https://A.Example./x")).toBe("a.example 443");
  expect(verdict("https://[2606:4700::1]/")).toBe("2606:4700::1 443");
  expect(verdict("http://a.example:443/")).toBe("a.example 443");
});

test("[EX-Y1] other schemes, credentials and closed ports are refused", () => {
  for (const url of ["ftp://a.example/", "file:///etc/passwd", "data:,x", "ws://a.example/"]) {
    expect(verdict(url)).toBe("refused scheme");
  }
  expect(verdict("http://user@a.example/")).toBe("refused credentials");
  expect(verdict("http://:secret@a.example/")).toBe("refused credentials");
  for (const port of [22, 25, 6379, 8080]) {
    expect(verdict(`http://a.example:${port}/`)).toBe("refused port");
  }
});

test("[EX-Y1] a number that is written to hide an address is read as that address", () => {
  for (const host of ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1."]) {
    expect(verdict(`http://${host}/`)).toBe("127.0.0.1 80");
  }
});

test("[EX-Y4] with a list of hosts no other is asked, and a star stands for names below", () => {
  const options = { hosts: ["api.example", "*.cdn.example", "93.184.216.34"] };
  expect(verdict("http://api.example/", options)).toBe("api.example 80");
  expect(verdict("http://API.example./", options)).toBe("api.example 80");
  expect(verdict("http://a.b.cdn.example/", options)).toBe("a.b.cdn.example 80");
  expect(verdict("http://93.184.216.34/", options)).toBe("93.184.216.34 80");
  for (const host of [
    "cdn.example",
    "x.api.example",
    "evilcdn.example",
    "1.1.1.1",
    "api.example.x",
  ]) {
    expect(verdict(`http://${host}/`, options)).toBe("refused host");
  }
  expect(verdict("http://93.184.216.34/", { hosts: ["*.216.34"] })).toBe("refused host");
  expect(verdict("http://anything.example/", { hosts: [] })).toBe("refused host");
});

test("[EX-Y4] ports and blocks can be opened", () => {
  const options = { ports: [8443], networks: ["10.1.0.0/16"] };
  expect(verdict("https://a.example:8443/", options)).toBe("a.example 8443");
  expect(verdict("https://a.example/", options)).toBe("refused port");
  const policy = egressPolicy(options);
  expect(["10.1.0.9", "1.1.1.1"].every((address) => addressAllowed(policy, address))).toBe(true);
  expect(addressAllowed(policy, "10.2.0.9")).toBe(false);
});

test.each<[keyof EgressOptions, EgressOptions]>([
  ["hosts", { hosts: ["http://a.example"] }],
  ["hosts", { hosts: ["*"] }],
  ["hosts", { hosts: ["a.*.example"] }],
  ["hosts", { hosts: [""] }],
  ["ports", { ports: [0] }],
  ["ports", { ports: [65_536] }],
  ["ports", { ports: [Number.NaN] }],
  ["networks", { networks: ["10.0.0.0/64"] }],
  ["networks", { networks: ["any"] }],
  ["requestHeaders", { requestHeaders: ["x y"] }],
  ["requestHeaders", { requestHeaders: ["Host"] }],
  ["requestHeaders", { requestHeaders: ["transfer-encoding"] }],
])("[EX-Y4] %s that do not parse are refused by name: %o", (option, options) => {
  try {
    egressPolicy(options);
    expect.unreachable("the policy was taken");
  } catch (error) {
    expect(isTidemarkError(error, "protocol")).toBe(true);
    expect(error).toMatchObject({ details: { path: [option] } });
  }
});
