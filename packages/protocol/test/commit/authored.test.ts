import { expect, test } from "vitest";
import { AppendRequestSchema, AuthoredCommitSchema } from "../../src/index.js";
import { ana } from "../wire/messages.js";

const entry = { eventId: "e1", payload: null };
const append = (more: object): boolean =>
  AppendRequestSchema.safeParse({ localSeq: 1, stream: "stream:s", entry: { ...entry, ...more } })
    .success;
const commit = (more: object): boolean =>
  AuthoredCommitSchema.safeParse({ localSeq: 1, reads: [], ops: [], ...more }).success;

test.each([
  ["seq", 4],
  ["index", 0],
  ["consequenced", true],
  ["error", "boom"],
  ["status", "dropped"],
  ["reason", "x"],
  ["duplicate", true],
  ["appendedAt", 1],
  ["stream", "stream:other"],
  ["checkpoint", {}],
  ["attention", {}],
  ["resolution", {}],
  ["eventWatermark", 1],
])("[PR-C1] an append that presets %s is refused", (field, value) => {
  expect(append({})).toBe(true);
  expect(append({ [field]: value })).toBe(false);
});

test.each([
  ["class", "derived"],
  ["holder", "h"],
  ["derivedThrough", 3],
  ["consequenceOf", ["e1"]],
  ["actingPrincipal", ana],
  ["actingSession", "s"],
  ["capabilityRef", "demanded-run:x"],
  ["seq", 1],
  ["watermark", 1],
])("[PR-C2] an authored commit that names %s is refused", (field, value) => {
  expect(commit({})).toBe(true);
  expect(commit({ [field]: value })).toBe(false);
});

test("[PR-C3] an operation names the kind of its scope and no key", () => {
  const op = { id: "node:d", op: "set", value: 1 };
  expect(commit({ ops: [{ ...op, scope: "user" }] })).toBe(true);
  expect(commit({ ops: [{ ...op, scope: `user:${ana}` }] })).toBe(false);
  expect(commit({ ops: [{ ...op, scopeKey: "space" }] })).toBe(false);
  expect(commit({ ops: [{ id: "node:d", op: "replace", path: [], value: 1 }] })).toBe(false);
});

test("[PR-C4] an append without id, payload or stream is refused, and a false attestation too", () => {
  const { safeParse } = AppendRequestSchema;
  expect(safeParse({ localSeq: 1, stream: "s", entry: { payload: 1 } }).success).toBe(false);
  expect(safeParse({ localSeq: 1, stream: "s", entry: { eventId: "e" } }).success).toBe(false);
  expect(safeParse({ localSeq: 1, entry }).success).toBe(false);
  expect(append({ rendererTrusted: true })).toBe(true);
  expect(append({ rendererTrusted: false })).toBe(false);
  expect(append({ firedAt: { user: ana, session: "server" } })).toBe(false);
  expect(append({ firedAt: { user: ana, session: "s1" } })).toBe(true);
});

test("[PR-C5] a commit of preconditions alone is well formed, one with a broken path is not", () => {
  expect(commit({ preconditions: [{ kind: "create-only", id: "node:d" }] })).toBe(true);
  expect(commit({ preconditions: [{ kind: "entity-value-hash", id: "node:d" }] })).toBe(false);
  const read = { id: "node:d", seq: 1, kind: "value" };
  expect(commit({ reads: [{ ...read, path: ["a", 0] }] })).toBe(true);
  for (const path of [undefined, "a", [-1], [1.5], ["\ud800"], [null], Array(65).fill("a")]) {
    expect(commit({ reads: [{ ...read, path }] })).toBe(false);
  }
});
