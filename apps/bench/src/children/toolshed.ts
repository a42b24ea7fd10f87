import type { EffectPerformers } from "@tidemark/executor";
import { systemClock } from "@tidemark/protocol";
import { recordedText } from "@tidemark/simulation";
import { createToolshed } from "@tidemark/toolshed";
import { benchCounter, benchHostile } from "../support/pattern.js";
import { pause } from "../support/wait.js";
import { answer, say } from "./answer.js";

/** About what a small model takes for a short text. */
const MODEL_MS = 50;

/** A model that takes its time and says little. */
const performers: EffectPerformers = {
  generateText: {
    async perform() {
      await pause(MODEL_MS);
      return `said at ${systemClock.monotonic()}`;
    },
  },
};

/** A toolshed with the patterns of the figures, on the folder that it is given. */
async function main(dataDir: string): Promise<void> {
  const toolshed = await createToolshed({
    dataDir,
    patterns: [benchCounter, benchHostile, recordedText],
    effects: { performers, close: () => Promise.resolve() },
    log: (level, message, fields) => {
      if (level === "error") console.error(message, fields);
    },
  });
  answer(() => toolshed.stop());
  say({ url: toolshed.url, socketUrl: toolshed.socketUrl });
}

await main(process.argv[2] ?? "");
