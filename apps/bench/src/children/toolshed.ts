import { recordedText } from "@tidemark/simulation";
import { createToolshed } from "@tidemark/toolshed";
import { benchCounter } from "../support/pattern.js";
import { answer, say } from "./answer.js";

/** A toolshed with the patterns of the figures, on the folder that it is given. */
async function main(dataDir: string): Promise<void> {
  const toolshed = await createToolshed({
    dataDir,
    patterns: [benchCounter, recordedText],
    log: (level, message, fields) => {
      if (level === "error") console.error(message, fields);
    },
  });
  answer(() => toolshed.stop());
  say({ socketUrl: toolshed.socketUrl });
}

await main(process.argv[2] ?? "");
