import type { Usage } from "../support/child.js";

/** Says something to the process that started this one. */
export function say(message: object): void {
  process.send?.(message);
}

/** Answers `usage`, and ends on `stop` or when nobody is left to answer. */
export function answer(stop: () => Promise<void> | void): void {
  const end = async (): Promise<void> => {
    await stop();
    process.exit(0);
  };
  process.on("message", (question) => {
    if (question === "usage") say(usage());
    else if (question === "stop") void end();
  });
  process.on("disconnect", () => void end());
}

/** What this process uses, after a collection. */
export function usage(): Usage {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, heapBytes: heapUsed + external, rssBytes: rss };
}
