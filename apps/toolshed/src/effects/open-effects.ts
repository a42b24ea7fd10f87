import { readFile } from "node:fs/promises";
import {
  createFetchPerformer,
  createGenerateObjectPerformer,
  createGenerateTextPerformer,
  createSqlitePerformer,
  type EffectPerformers,
  openAiCompatibleProvider,
} from "@tidemark/executor";
import { type Clock, isTidemarkError } from "@tidemark/protocol";
import type { EffectsConfig, LlmConfig } from "../config/effects-config.js";

/** Who does what effectful nodes ask for. */
export interface Effects {
  readonly performers: EffectPerformers;
  /** Ends what is under way. Resolves when no process of it is left. */
  close(): Promise<void>;
}

/** Which variable an option came from. */
const VARIABLES: Readonly<Record<string, string>> = {
  hosts: "EGRESS_HOSTS",
  ports: "EGRESS_PORTS",
  networks: "EGRESS_NETWORKS",
  requestHeaders: "EGRESS_HEADERS",
  url: "LLM_URL",
  key: "LLM_KEY",
  models: "LLM_MODELS",
};

/**
 * Makes the performers of a configuration; nothing is reached yet. Answers words about what cannot be used: a server
 * that cannot keep its policy does not start with another.
 */
export async function openEffects(config: EffectsConfig, clock: Clock): Promise<Effects | string> {
  try {
    const sqlite = createSqlitePerformer({ clock, folder: config.databases });
    const performers: EffectPerformers = {
      ...(config.egress && { fetchData: createFetchPerformer({ clock, egress: config.egress }) }),
      ...(config.llm && (await generating(config.llm, clock))),
      sqliteQuery: sqlite,
    };
    return { performers, close: () => sqlite.close() };
  } catch (error) {
    return wordsOf(error, config);
  }
}

async function generating(llm: LlmConfig, clock: Clock) {
  const { url, models, objectMode, keyFile } = llm;
  const key = keyFile === undefined ? llm.key?.reveal() : (await readFile(keyFile, "utf8")).trim();
  const provider = openAiCompatibleProvider({ clock, url, models, objectMode, key });
  return {
    generateText: createGenerateTextPerformer({ provider }),
    generateObject: createGenerateObjectPerformer({ provider }),
  };
}

/** Neither a key nor what a file of keys holds is in these words. */
function wordsOf(error: unknown, { llm }: EffectsConfig): string {
  if (isTidemarkError(error, "protocol")) {
    const { path } = error.details as { readonly path?: readonly unknown[] };
    const variable = VARIABLES[String(path?.[0])];
    return variable === undefined ? error.message : `${variable}: ${error.message}`;
  }
  const { code } = error as { readonly code?: unknown };
  if (llm?.keyFile !== undefined && typeof code === "string") {
    return `LLM_KEY_FILE: ${llm.keyFile} cannot be read (${code})`;
  }
  throw error;
}
