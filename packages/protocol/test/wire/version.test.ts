import { expect, test } from "vitest";
import {
  type Acl,
  authMessageToSign,
  genesisMessageToSign,
  sessionId,
  WIRE_HISTORY,
  WIRE_VERSION,
  wireSchemaHash,
} from "../../src/index.js";
import { ana, space } from "./messages.js";

test("[PR-W7] the schemas are those of the newest wire version: a change needs a new line", () => {
  const newest = WIRE_HISTORY.at(-1);
  expect(newest?.version).toBe(WIRE_VERSION);
  expect(wireSchemaHash()).toBe(newest?.schemaHash);
  expect(WIRE_HISTORY.map((note) => note.version)).toEqual(WIRE_HISTORY.map((_, at) => at + 1));
  expect(new Set(WIRE_HISTORY.map((note) => note.schemaHash)).size).toBe(WIRE_HISTORY.length);
});

test("[PR-W8] each part of what is signed changes the text, and the order of keys does not", () => {
  const statement = {
    serverId: "srv",
    challenge: "c",
    principal: ana,
    sessionId: sessionId("s"),
    openNonce: "n",
  };
  const texts = [
    statement,
    { ...statement, serverId: "other" },
    { ...statement, challenge: "d" },
    { ...statement, sessionId: sessionId("t") },
    { ...statement, openNonce: "m" },
  ].map(authMessageToSign);
  expect(new Set(texts).size).toBe(5);
  expect(texts[0]).toBe(
    `{"challenge":"c","openNonce":"n","principal":"${ana}","serverId":"srv","sessionId":"s","tidemark":"auth@1"}`,
  );
  const acl: Acl = { "*": "READ", [ana]: "OWNER" };
  const reordered: Acl = { [ana]: "OWNER", "*": "READ" };
  expect(genesisMessageToSign(space, acl)).toBe(genesisMessageToSign(space, reordered));
  expect(genesisMessageToSign(space, acl)).toContain(space);
  expect(genesisMessageToSign(space, acl)).toContain('"tidemark":"genesis@1"');
});
