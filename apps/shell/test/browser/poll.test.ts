import type { Page } from "playwright-core";
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

test("the start page leads to the lunch poll, and a vote in one tab shows in the other at once", async () => {
  const ana = await stage.person();
  const one = await stage.tab(ana);
  const two = await stage.tab(ana);
  await pollOn(one).button("Soup").click();
  await pollOn(one).mine("Soup");
  await pollOn(two).mine("Soup");
  await pollOn(two).button("Pizza").click();
  await pollOn(one).mine("Pizza");
  await pollOn(one).votes("Pizza", 1);
  await pollOn(one).votes("Soup", 0);
  await pollOn(one).settled();
  await pollOn(two).button("Pizza").click();
  await pollOn(one).votes("Pizza", 0);
  await ana.close();
});

test("two people see each other's votes, names and options", async () => {
  const [ana, ben] = await Promise.all([stage.person(), stage.person()]);
  const [one, two] = await Promise.all([stage.tab(ana), stage.tab(ben)]);
  const [a, b] = [pollOn(one), pollOn(two)];
  await a.button("Soup").click();
  await b.votes("Soup", 1);
  await b.voter("Soup", await a.myName());
  await b.button("Soup").click();
  await a.votes("Soup", 2);
  await a.voter("Soup", await b.myName());
  await one
    .getByRole("status")
    .filter({ hasText: `${await b.myName()} votes for Soup.` })
    .waitFor();
  await two.getByLabel("Something else?").fill("Ramen");
  await two.getByRole("button", { name: "Add", exact: true }).click();
  await a.button("Ramen").click();
  await b.votes("Ramen", 1);
  await Promise.all([ana.close(), ben.close()]);
});

test("a reload keeps the vote and the person", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana);
  const poll = pollOn(page);
  await poll.button("Salad").click();
  await poll.settled();
  const before = await poll.myName();
  const session = await sessionOf(page);
  await page.reload();
  await poll.mine("Salad");
  expect(await poll.myName()).toBe(before);
  expect(await sessionOf(page)).toBe(session);
  await ana.close();
});

test("a duplicated tab is the same person in a session of its own", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana);
  await pollOn(page).button("Soup").click();
  await pollOn(page).settled();
  const opened = ana.waitForEvent("page");
  // A tab that a script opens starts with a copy of the session storage, as a duplicated one does.
  await page.evaluate(() => void window.open(location.href));
  const copy = await opened;
  await pollOn(copy).mine("Soup");
  expect(await pollOn(copy).myName()).toBe(await pollOn(page).myName());
  expect(await sessionOf(copy)).not.toBe(await sessionOf(page));
  await ana.close();
});

test("one tab can be somebody else, and the others stay who they were", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana);
  const poll = pollOn(page);
  await poll.button("Pizza").click();
  await poll.settled();
  const name = await poll.myName();
  await page.getByLabel(`You are ${name}`).click();
  await page.getByRole("button", { name: "Be someone else in this tab" }).click();
  await poll.voter("Pizza", name);
  await poll.button("Pizza").click();
  await poll.mine("Pizza");
  const other = await stage.tab(ana);
  expect(await pollOn(other).myName()).toBe(name);
  await pollOn(other).voter("Pizza", await poll.myName());
  await page.getByLabel(`You are ${await poll.myName()}`).click();
  await page.getByRole("button", { name: "Be myself again" }).click();
  await page.getByLabel(`You are ${name}`).waitFor();
  await poll.mine("Pizza");
  await ana.close();
});

test("no page has reported an error", () => {
  expect(stage.pageErrors).toEqual([]);
});

function sessionOf(page: Page): Promise<string | null> {
  return page.evaluate(() => sessionStorage.getItem("tidemark.session"));
}
