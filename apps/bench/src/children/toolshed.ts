import { createToolshed } from "@tidemark/toolshed";
import { benchCounter, benchText } from "../support/pattern.js";
import { answer, say } from "./answer.js";

/** A toolshed with the patterns of the figures, on the folder that it is given. */
async function main(dataDir: string): Promise<void> {
  const toolshed = await createToolshed({
    dataDir,
    patterns: [benchCounter, benchText],
    log: (level, message, fields) => {
      if (level === "error") console.error(message, fields);
    },
  });
  answer(() => toolshed.stop());
  say({ socketUrl: toolshed.socketUrl });
}

await main(process.argv[2] ?? "");
