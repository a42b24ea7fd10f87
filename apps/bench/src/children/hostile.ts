import { benchHostile } from "../support/pattern.js";
import { newSpace, person, socketTransport } from "../support/people.js";
import { pause } from "../support/wait.js";
import { answer, say } from "./answer.js";

const LARGE = "x".repeat(256 * 1_024);
const EVERY_MS = 25;

/** A client that gives its own space no rest: it watches all of it, and says so once everything is under way. */
async function main(socketUrl: string): Promise<void> {
  const client = await person(socketTransport(socketUrl), [benchHostile]);
  answer(() => client.close());
  const space = await newSpace(client);
  const { piece, created } = space.create(benchHostile);
  await created;
  await piece.fire("ask").settled;
  piece.fire("spin", null);
  for (let i = 0; ; i += 1) {
    await piece.fire("keep", `${i}${LARGE}`).settled;
    await piece.fire("ask").settled;
    if (i === 0) say({ underWay: true });
    await pause(EVERY_MS);
  }
}

await main(process.argv[2] ?? "");
