import { inspect } from "node:util";
import { expect, test } from "vitest";
import { readConfig } from "../src/config/config.js";
import { readEffectsConfig } from "../src/config/effects-config.js";
import { Secret } from "../src/config/secret.js";

const LLM = { LLM_URL: "https://api.example/v1", LLM_MODELS: "small, large" };

test("[TS-E1] without variables public hosts are fetched from, no model is asked, and databases lie in the data folder", () => {
  expect(readEffectsConfig({}, "/data")).toEqual({
    config: { egress: {}, llm: undefined, databases: "/data/databases" },
    problems: [],
  });
});

test("[TS-E1] each variable narrows or opens one thing", () => {
  const env = {
    EGRESS: "public",
    EGRESS_HOSTS: "api.example, *.cdn.example",
    EGRESS_PORTS: "443,8443",
    EGRESS_NETWORKS: "10.1.0.0/16",
    EGRESS_HEADERS: "x-key",
    DATABASES_DIR: "/databases",
    LLM_OBJECT_MODE: "json-object",
    LLM_KEY_FILE: "/run/secrets/key",
    LLM_KEY: "",
    ...LLM,
  };
  expect(readEffectsConfig(env, "/data")).toEqual({
    config: {
      egress: {
        hosts: ["api.example", "*.cdn.example"],
        ports: [443, 8443],
        networks: ["10.1.0.0/16"],
        requestHeaders: ["x-key"],
      },
      llm: {
        url: LLM.LLM_URL,
        models: ["small", "large"],
        objectMode: "json-object",
        key: undefined,
        keyFile: "/run/secrets/key",
      },
      databases: "/databases",
    },
    problems: [],
  });
  expect(readEffectsConfig({ EGRESS: "closed" }, "/data").config.egress).toBeUndefined();
});

test.each([
  [{ EGRESS: "open" }, "EGRESS is public or closed"],
  [{ EGRESS: "" }, "EGRESS is public or closed"],
  [{ EGRESS: "closed", EGRESS_HOSTS: "api.example" }, "EGRESS is closed"],
  [{ EGRESS_HOSTS: "" }, "EGRESS_HOSTS is a list"],
  [{ EGRESS_HOSTS: "a.example,,b.example" }, "EGRESS_HOSTS is a list"],
  [{ EGRESS_NETWORKS: " " }, "EGRESS_NETWORKS is a list"],
  [{ LLM_KEY: "sk-not-a-key" }, "LLM_URL is missing"],
  [{ LLM_MODELS: "small" }, "LLM_URL is missing"],
  [{ LLM_URL: LLM.LLM_URL }, "LLM_MODELS names"],
  [{ ...LLM, LLM_OBJECT_MODE: "xml" }, "LLM_OBJECT_MODE is"],
  [{ ...LLM, LLM_KEY: "sk-not-a-key", LLM_KEY_FILE: "/k" }, "LLM_KEY or LLM_KEY_FILE"],
  [{ DATABASES_DIR: "/data/spaces" }, "DATABASES_DIR neither is"],
  [{ DATABASES_DIR: "/data/spaces/x" }, "DATABASES_DIR neither is"],
  [{ DATABASES_DIR: "/data/x/../keys" }, "DATABASES_DIR neither is"],
  [{ DATABASES_DIR: "/data" }, "DATABASES_DIR neither is"],
  [{ DATABASES_DIR: "/" }, "DATABASES_DIR neither is"],
])("[TS-E2] %o stops the start, in words that name it", (env, words) => {
  expect(readConfig(["--data-dir", "/data"], env)).toEqual({
    kind: "invalid",
    problems: [expect.stringContaining(words)],
  });
});

test("[TS-E3] a budget that does not parse keeps its bound and is warned of", () => {
  const env = {
    SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS: "many",
    SERVER_EXECUTION_EGRESS_RATE_PER_S: "-1",
  };
  expect(readConfig([], env)).toMatchObject({
    config: { maxOutstandingEffects: 16, egressRatePerSecond: 1 },
    warnings: [expect.stringContaining("OUTSTANDING"), expect.stringContaining("RATE")],
  });
  expect(readConfig([], { SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS: "0" })).toMatchObject({
    config: { maxOutstandingEffects: 0, egressRatePerSecond: 0 },
    warnings: [],
  });
});

test("[TS-E4] a key shows nowhere by mistake", () => {
  const request = readConfig([], { ...LLM, LLM_KEY: "sk-not-a-key" });
  const shown = [JSON.stringify(request), inspect(request, { depth: 9, showHidden: true })];
  const key = new Secret("sk-not-a-key");
  expect([...shown, `${String(key)}`, inspect(key)].join()).not.toContain("sk-not-a-key");
  expect(key.reveal()).toBe("sk-not-a-key");
});
