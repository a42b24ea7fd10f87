import type { PieceHandle, ResultOf } from "@tidemark/client";
import { lunchPoll } from "@tidemark/patterns";
import { createToolshed } from "@tidemark/toolshed";
import { inFlight } from "@tidemark/simulation";
import type { Row } from "../report/row.js";
import type { BenchContext, Figure } from "../support/figure.js";
import { newSpace, opened, person } from "../support/people.js";

const CLIENTS = 4;
const REACH_SETTLED = 2;
const REACH_PIPELINED = 0.5;
const IN_FLIGHT_EACH = 16;
const OPTIONS = ["Pizza", "Soup", "Salad"] as const;

type Poll = PieceHandle<ResultOf<typeof lunchPoll>>;

/** How many commits the loop makes for those that clients make. */
export const derivedCommits: Figure = {
  name: "derived-commits",
  about: "derived commits per authored commit, lunch poll by 4 clients, settled and pipelined",
  async measure(context) {
    const toolshed = await createToolshed({ dataDir: context.folder(), patterns: [lunchPoll] });
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => person(toolshed.loopback, [lunchPoll])),
    );
    const [first, ...others] = clients;
    if (first === undefined) throw new Error("nobody is there");
    const space = await newSpace(first);
    const { piece, created } = space.create(lunchPoll);
    await created;
    const polls: Poll[] = [piece];
    for (const client of others) {
      polls.push((await opened(client, space.id)).piece(piece.id, lunchPoll));
    }
    await piece.fire("vote", { option: "Soup" }).settled;
    await space.waitForSettled();
    const { engine } = toolshed.memory.space(space.id);
    const rows: Row[] = [];
    const count = async (vote: () => Promise<void>): Promise<number> => {
      const from = engine.head();
      await vote();
      await space.waitForSettled();
      const commits = engine.commitsSince(from);
      const of = (name: string) => commits.filter((commit) => commit.class === name).length;
      return of("derived") / of("authored");
    };
    const settled = await count(() => oneByOne(context, polls));
    rows.push(rowOf("settled one by one", settled, REACH_SETTLED));
    const pipelined = await count(() => atOnce(context, polls));
    rows.push(rowOf("pipelined", pipelined, REACH_PIPELINED));
    await Promise.all(clients.map((client) => client.close()));
    await toolshed.stop();
    return rows;
  },
};

async function oneByOne({ quick }: BenchContext, polls: readonly Poll[]): Promise<void> {
  const rounds = quick ? 10 : 50;
  for (let i = 0; i < rounds; i += 1) {
    for (const [j, poll] of polls.entries()) await vote(poll, i + j);
  }
}

async function atOnce({ quick }: BenchContext, polls: readonly Poll[]): Promise<void> {
  const rounds = quick ? 50 : 100;
  await Promise.all(polls.map((poll) => inFlight(rounds, IN_FLIGHT_EACH, (i) => vote(poll, i))));
}

function vote(poll: Poll, i: number): Promise<unknown> {
  return poll.fire("vote", { option: OPTIONS[i % OPTIONS.length] ?? "Soup" }).settled;
}

function rowOf(how: string, ours: number, reach: number): Row {
  const figure = `derived per authored commit, ${how}`;
  return { figure, unit: "", ours, target: `≤ ${reach}`, met: ours <= reach };
}
