import { systemClock } from "@tidemark/protocol";
import { createToolshed, type Toolshed } from "@tidemark/toolshed";
import type { IdleSpaces } from "../figures/idle-spaces.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, person } from "../support/people.js";
import { pause, until } from "../support/wait.js";
import { answer, say, usage } from "./answer.js";

const WITHIN_MS = 60_000;
/** Spaces that are opened and parked first: code and caches are no cost of the next. */
const WARM = 10;

/** Opens spaces, lets them park, and says what is left of them. */
async function main(dataDir: string, count: number): Promise<void> {
  const serving = { idleParkMs: 100, parkDisposeTimeoutMs: 1_000 };
  const toolshed = await createToolshed({ dataDir, patterns: [benchCounter], serving });
  answer(() => toolshed.stop());
  await openAndPark(toolshed, WARM);
  const before = usage();
  const timersBefore = timers();
  await openAndPark(toolshed, count);
  const after = usage();
  const report: IdleSpaces = {
    bytesEach: (after.rssBytes - before.rssBytes) / count,
    heapBytesEach: (after.heapBytes - before.heapBytes) / count,
    timersLeft: timers() - timersBefore + toolshed.memory.stats().timers,
    openSpaces: toolshed.memory.stats().openSpaces,
  };
  say(report);
}

async function openAndPark(toolshed: Toolshed, count: number): Promise<void> {
  const client = await person(toolshed.loopback, [benchCounter]);
  for (let i = 0; i < count; i += 1) {
    const space = await newSpace(client);
    const { piece, created } = space.create(benchCounter);
    await created;
    await piece.fire("increment").settled;
    client.closeSpace(space.id);
  }
  await client.close();
  const parked = (): boolean => toolshed.host.activeSpaces().length === 0;
  await until("every space parked", WITHIN_MS, parked);
  // Timers of the connection that ended run out on their own.
  await pause(1_000);
  await new Promise<void>((resolve) => {
    systemClock.immediate(resolve);
  });
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

await main(process.argv[2] ?? "", Number(process.argv[3]));
