import { join, relative, resolve } from "node:path";
import type { EgressOptions, ObjectMode } from "@tidemark/executor";
import { Secret } from "./secret.js";

/** What the effectful built-ins may reach (builtins.md, "Effectful nodes"). */
export interface EffectsConfig {
  /** Where `fetchData` may go; absent: nowhere. */
  readonly egress: EgressOptions | undefined;
  /** Who answers `generateText` and `generateObject`; absent: nobody. */
  readonly llm: LlmConfig | undefined;
  /** Folder of the databases that `sqliteQuery` reads. */
  readonly databases: string;
}

/** A provider that speaks the chat completions API. */
export interface LlmConfig {
  readonly url: string;
  readonly models: readonly string[];
  readonly objectMode: ObjectMode;
  readonly key: Secret | undefined;
  /** In place of `key`: a file that holds it. */
  readonly keyFile: string | undefined;
}

/** A configuration, or words about what of it cannot be used. */
export interface EffectsRequest {
  readonly config: EffectsConfig;
  readonly problems: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Folders of the data folder that hold what no query may read. */
const TAKEN_FOLDERS = ["spaces", "keys"];

/**
 * Reads the variables of effects. It fails closed: what cannot be read, and a list that is there and empty, stops the
 * start, since the widest reading would be the one that opens most.
 */
export function readEffectsConfig(env: Environment, dataDir: string): EffectsRequest {
  const problems: string[] = [];
  const problem = (words: string): void => void problems.push(words);
  const config = {
    egress: readEgress(env, problem),
    llm: readLlm(env, problem),
    databases: readDatabases(env, dataDir, problem),
  };
  return { config, problems };
}

function readEgress(env: Environment, problem: (words: string) => void): EgressOptions | undefined {
  const mode = env["EGRESS"] ?? "public";
  const hosts = list(env, "EGRESS_HOSTS", problem);
  const ports = list(env, "EGRESS_PORTS", problem);
  const networks = list(env, "EGRESS_NETWORKS", problem);
  const requestHeaders = list(env, "EGRESS_HEADERS", problem);
  if (mode === "closed") {
    if (hosts || ports || networks || requestHeaders) {
      problem("EGRESS is closed, and other variables of EGRESS open something: one of both goes");
    }
    return undefined;
  }
  if (mode !== "public") problem("EGRESS is public or closed");
  return {
    ...(hosts && { hosts }),
    // A number that is none is refused by the policy, by its own name.
    ...(ports && { ports: ports.map((port) => (/^\d{1,5}$/u.test(port) ? Number(port) : 0)) }),
    ...(networks && { networks }),
    ...(requestHeaders && { requestHeaders }),
  };
}

function readLlm(env: Environment, problem: (words: string) => void): LlmConfig | undefined {
  const [url, key, keyFile] = ["LLM_URL", "LLM_KEY", "LLM_KEY_FILE"].map((name) =>
    given(env, name),
  );
  const models = list(env, "LLM_MODELS", problem);
  const objectMode = given(env, "LLM_OBJECT_MODE") ?? "json-schema";
  if (url === undefined) {
    if (key || keyFile || models || given(env, "LLM_OBJECT_MODE")) {
      problem("LLM_URL is missing: other variables of LLM are there");
    }
    return undefined;
  }
  if (models === undefined)
    problem("LLM_MODELS names the models that may be asked, the default first");
  if (key && keyFile) problem("LLM_KEY or LLM_KEY_FILE, not both");
  if (objectMode !== "json-schema" && objectMode !== "json-object") {
    problem("LLM_OBJECT_MODE is json-schema or json-object");
    return undefined;
  }
  return {
    url,
    models: models ?? [],
    objectMode,
    key: key === undefined ? undefined : new Secret(key),
    keyFile,
  };
}

function readDatabases(
  env: Environment,
  dataDir: string,
  problem: (words: string) => void,
): string {
  const databases = given(env, "DATABASES_DIR") ?? join(dataDir, "databases");
  for (const taken of TAKEN_FOLDERS) {
    if (holds(join(dataDir, taken), databases) || holds(databases, join(dataDir, taken))) {
      problem(`DATABASES_DIR neither is, nor lies in, nor holds ${join(dataDir, taken)}`);
      break;
    }
  }
  return databases;
}

/** Whether `inner` is `outer` or lies in it. */
function holds(outer: string, inner: string): boolean {
  const way = relative(resolve(outer), resolve(inner));
  return way === "" || !(way === ".." || way.startsWith("../") || way.startsWith("..\\"));
}

function given(env: Environment, name: string): string | undefined {
  const text = env[name];
  return text === undefined || text === "" ? undefined : text;
}

function list(
  env: Environment,
  name: string,
  problem: (words: string) => void,
): readonly string[] | undefined {
  const text = env[name];
  if (text === undefined) return undefined;
  const items = text.split(",").map((item) => item.trim());
  if (items.every((item) => item !== "")) return items;
  problem(`${name} is a list with commas between, or is left out`);
  return items.filter((item) => item !== "");
}
