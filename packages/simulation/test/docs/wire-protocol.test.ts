import * as protocol from "@tidemark/protocol";
import { parseClientMessage, parseServerMessage, WIRE_HISTORY } from "@tidemark/protocol";
import { expect, test } from "vitest";
import { blocksOf, codeIn, tableUnder } from "./support.js";

const DOC = "docs/wire-protocol.md";
const messages = blocksOf(DOC, "json").map((text) => ({
  text,
  type: (JSON.parse(text) as { readonly type: string }).type,
}));

const CLIENT = [
  "hello",
  "auth",
  "space.create",
  "space.open",
  "space.close",
  "logout",
  "watch.set",
  "commit",
  "append",
];
const SERVER = ["challenge", "ok", "error", "frame", "superseded", "revoked"];
const BOTH = ["ping", "pong"];

test("every example of a message parses on the side that receives it", () => {
  for (const { text, type } of messages) {
    const parse = SERVER.includes(type) ? parseServerMessage : parseClientMessage;
    const parsed = parse(text);
    expect(parsed.ok ? "parses" : `${type}: ${parsed.error.message}`).toBe("parses");
  }
});

test("every kind of message has an example, and no other kind has", () => {
  const shown = new Set(messages.map(({ type }) => type));
  expect([...shown].sort()).toEqual([...CLIENT, ...SERVER, ...BOTH].sort());
  const spoken = (schema: { readonly options: readonly unknown[] }): string[] =>
    schema.options.map(
      (option) =>
        (option as { readonly shape: { readonly type: { readonly value: string } } }).shape.type
          .value,
    );
  expect(spoken(protocol.ClientMessageSchema as never).sort()).toEqual([...CLIENT, ...BOTH].sort());
  expect(spoken(protocol.ServerMessageSchema as never).sort()).toEqual([...SERVER, ...BOTH].sort());
});

test("the table of errors is the exported classes, with the codes that travel", () => {
  const rows = tableUnder(DOC, "## Errors").map(([name = "", codes = ""]) => [
    codeIn(name)[0],
    codeIn(codes),
  ]);
  const classes = Object.entries(protocol)
    .filter(([, value]) => isErrorClass(value))
    .map(([name]) => name);
  expect(rows.map(([name]) => name).sort()).toEqual(classes.sort());
  const wire = protocol.WireErrorSchema.options.map(({ shape }) => [
    shape.name.value,
    "options" in shape.code ? shape.code.options : ["internal"],
  ]);
  // It travels by its code alone, so that a version that does not know it reads a refusal that passes.
  const { name, code } = protocol.toWireError(new protocol.OutOfTurnError("behind"));
  expect(name).toBe("TidemarkError");
  const travels = { ...Object.fromEntries(wire), OutOfTurnError: [code] };
  expect(Object.fromEntries(rows)).toEqual(travels);
});

test("the table of versions is the history of the wire", () => {
  expect(tableUnder(DOC, "## Versions")).toEqual(
    WIRE_HISTORY.map(({ version, change }) => [String(version), change]),
  );
});

test("the limits are those of the code", () => {
  const limits = Object.fromEntries(
    tableUnder(DOC, "## Limits").map(([what, bound]) => [what, bound]),
  );
  const count = (n: number): string => n.toLocaleString("en-US");
  expect(limits["watches of a space"]).toBe(count(protocol.MAX_WATCHES));
  expect(limits["outstanding events named at an open"]).toBe(
    count(protocol.MAX_OUTSTANDING_EVENTS),
  );
  expect(limits["a client's message"]).toBe(`${protocol.MESSAGE_LIMITS.maxBytes / 2 ** 20} MiB`);
  const { maxDepth, maxNodes } = protocol.SELECTOR_LIMITS;
  expect(limits["depth, nodes of a selector"]).toBe(`${count(maxDepth)}, ${count(maxNodes)}`);
  expect(limits["depth of a value"]).toBe(count(protocol.MAX_JSON_DEPTH));
});

function isErrorClass(value: unknown): boolean {
  if (typeof value !== "function") return false;
  return value === protocol.TidemarkError || value.prototype instanceof protocol.TidemarkError;
}
