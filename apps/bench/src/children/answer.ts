import type { Processor, Usage } from "../support/child.js";

/** Says something to the process that started this one. */
export function say(message: object): void {
  process.send?.(message);
}

/** Answers `usage` and `processor`, and ends on `stop` or when nobody is left to answer. */
export function answer(stop: () => Promise<void> | void): void {
  const end = async (): Promise<void> => {
    await stop();
    process.exit(0);
  };
  process.on("message", (question) => {
    if (question === "usage") say(usage());
    else if (question === "processor") say(processor());
    else if (question === "stop") void end();
  });
  process.on("disconnect", () => void end());
}

/** What this process has used of the processor. */
function processor(): Processor {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000 };
}

/** What this process holds after a collection. */
export function usage(): Usage {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, rssBytes: rss };
}
