import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Loaded into a server process before its program (`NODE_OPTIONS=--import`): on SIGUSR2 it collects garbage and prints
 * what the process uses, as one line. The program itself stays the one that people run.
 */
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

process.on("SIGUSR2", () => {
  collect();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const usage = {
    cpuMs: (user + system) / 1_000,
    heapBytes: heapUsed + external,
    rssBytes: rss,
  };
  process.stdout.write(`usage ${JSON.stringify(usage)}\n`);
});
