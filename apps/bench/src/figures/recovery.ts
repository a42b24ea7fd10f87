import { join } from "node:path";
import { folderStores } from "@tidemark/memory-engine";
import { SPACE_SCOPE_KEY, streamIdFor, systemClock, systemRandom } from "@tidemark/protocol";
import type { DocId, EventId, Principal, SessionId, SpaceId } from "@tidemark/protocol";
import { createToolshed } from "@tidemark/toolshed";
import type { Figure } from "../support/figure.js";
import { benchCounter } from "../support/pattern.js";
import { newSpace, person } from "../support/people.js";

const DOCUMENTS = 100_000;
const EVENTS = 10_000;
const PER_COMMIT = 1_000;

/** A process that starts on a large space with a backlog: until the last event of it is consequenced. */
export const recovery: Figure = {
  name: "recovery",
  about:
    "start on a space of 100,000 documents and 10,000 pending events, until all are consequenced",
  async measure(context) {
    const scale = context.quick ? 0.05 : 1;
    const [documents, events] = [DOCUMENTS * scale, EVENTS * scale];
    const dataDir = context.folder();
    context.progress.step("filling the store");
    const space = await filled(dataDir, documents, events);
    context.progress.step("recovering");
    const start = systemClock.monotonic();
    const toolshed = await createToolshed({ dataDir, patterns: [benchCounter] });
    const served = toolshed.memory.space(space);
    let first: number | undefined;
    let left = events;
    await new Promise<void>((resolve) => {
      const feed = served.feed(served.engine.head(), ({ consequenceOf = [] }) => {
        if (consequenceOf.length > 0) first ??= systemClock.monotonic() - start;
        left -= consequenceOf.length;
        if (left > 0) return;
        feed.close();
        resolve();
      });
    });
    const ours = systemClock.monotonic() - start;
    await toolshed.stop();
    const what = `${documents.toLocaleString("en")} documents, ${events.toLocaleString("en")} pending events`;
    const open = { target: "–", met: undefined };
    return [
      { figure: `recovery: ${what}, first consequence`, unit: "ms", ours: first, ...open },
      { figure: "recovery: the whole backlog", unit: "ms", ours, ...open },
    ];
  },
};

/** A store with a counter, many other documents, and events that nobody has handled; as a process left it that died. */
async function filled(dataDir: string, documents: number, events: number): Promise<SpaceId> {
  const toolshed = await createToolshed({ dataDir, patterns: [benchCounter] });
  const client = await person(toolshed.loopback, [benchCounter]);
  const space = await newSpace(client);
  const { piece, created } = space.create(benchCounter);
  await created;
  await client.close();
  await toolshed.stop();
  write(dataDir, space.id, {
    documents,
    events,
    stream: streamIdFor(piece.id, "increment"),
    user: client.whoami.principal,
  });
  return space.id;
}

function write(
  dataDir: string,
  space: SpaceId,
  {
    documents,
    events,
    stream,
    user,
  }: { documents: number; events: number; stream: DocId; user: Principal },
): void {
  const dir = join(dataDir, "spaces");
  const stores = folderStores({ dir, storeClock: systemClock, random: systemRandom });
  const engine = stores.open(space);
  const session = "bench" as SessionId;
  for (let from = 0; from < documents; from += PER_COMMIT) {
    engine.transact((tx) => {
      for (let i = from; i < Math.min(documents, from + PER_COMMIT); i += 1) {
        const id = `note:${i}` as DocId;
        tx.write({
          id,
          scopeKey: SPACE_SCOPE_KEY,
          op: { op: "set", value: { text: `note ${i}` } },
        });
      }
      return tx.commit({ class: "authored", principal: user, session });
    });
  }
  for (let i = 0; i < events; i += 1) {
    engine.transact((tx) => {
      tx.append({ stream, eventId: `e${i}` as EventId, payload: null, firedAt: { user, session } });
      return tx.commit({ class: "authored", principal: user, session });
    });
  }
  engine.close();
}
