import { afterAll, beforeAll, expect, test } from "vitest";
import { pollOn } from "./support/poll-page.js";
import { Stage } from "./support/stage.js";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage.close();
});

test("a vote given while the server is dead shows at once, waits, and lands exactly once", async () => {
  const [ana, ben] = await Promise.all([stage.person(), stage.person()]);
  const [one, two] = await Promise.all([stage.tab(ana), stage.tab(ben)]);
  const [a, b] = [pollOn(one), pollOn(two)];
  await b.button("Pizza").click();
  await a.votes("Pizza", 1);
  await a.settled();

  await stage.crash();
  await a.connection(/^Offline/u);
  await a.button("Soup").click();
  await a.mine("Soup");
  await a.votes("Soup", 1);
  await a.connection(/1 kept here$/u);
  await one.getByText("1 waiting for the server").waitFor();
  await one.getByText("Kept here until the server is back.").waitFor();

  await stage.restart();
  await a.connection(/^Online$/u);
  await a.settled();
  await b.votes("Soup", 1);
  await b.votes("Pizza", 1);
  expect(await handled()).toBe(1);

  const carl = await stage.person();
  const third = pollOn(await stage.tab(carl));
  await third.votes("Soup", 1);
  await third.voter("Soup", await a.myName());
  await Promise.all([ana.close(), ben.close(), carl.close()]);
});

/** How many events the process that runs now has handled. */
async function handled(): Promise<number> {
  const response = await fetch(`${stage.url}/api/health/stats`);
  const stats = (await response.json()) as { servingLoop: { events: { processed: number } } };
  return stats.servingLoop.events.processed;
}
