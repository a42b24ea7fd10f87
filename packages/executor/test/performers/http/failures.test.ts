import { expect, test } from "vitest";
import { EffectError } from "../../../src/index.js";
import { failure } from "../../../src/performers/failure.js";
import { connectionFailure } from "../../../src/performers/http/failures.js";
import { wordsOf } from "../support/calls.js";

const coded = (code: string) =>
  Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:80 secret"), {
    code,
    address: "10.0.0.1",
  });

test.each<[unknown, string]>([
  [coded("ECONNREFUSED"), "network unreachable"],
  [coded("ENOTFOUND"), "network unreachable"],
  [coded("ECONNRESET"), "network cut-off"],
  [coded("EPIPE"), "network cut-off"],
  [coded("CERT_HAS_EXPIRED"), "network tls"],
  [coded("ERR_TLS_CERT_ALTNAME_INVALID"), "network tls"],
  [coded("DEPTH_ZERO_SELF_SIGNED_CERT"), "network tls"],
  [coded("ERR_SSL_WRONG_VERSION_NUMBER"), "network tls"],
  [coded("HPE_HEADER_OVERFLOW"), "too-large head"],
  [coded("HPE_INVALID_CONSTANT"), "invalid http"],
  [coded("Z_DATA_ERROR"), "invalid encoding"],
  [coded("EMFILE"), "network failed"],
  [
    new AggregateError([coded("ECONNREFUSED"), coded("ETIMEDOUT")], "10.0.0.1"),
    "network unreachable",
  ],
  [new AggregateError([], "10.0.0.1"), "network failed"],
  [new TypeError("secret"), "network failed"],
  ["secret", "network failed"],
  [undefined, "network failed"],
])("[EX-Y14] whatever a connection throws becomes words of ours: %s", (error, way) => {
  const told = connectionFailure(error);
  expect(told).toBeInstanceOf(EffectError);
  const { kind, reason } = (told as EffectError).details;
  expect(`${kind} ${reason}`).toBe(way);
  expect(wordsOf(told)).not.toMatch(/10\.0\.0\.1|secret/u);
});

test("[EX-Y14] a failure that is in our words already passes", () => {
  const error = failure("too-large", "body", "words");
  expect(connectionFailure(error)).toBe(error);
});
