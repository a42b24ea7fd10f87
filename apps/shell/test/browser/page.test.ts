import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pollOn } from "./support/poll-page.js";
import { Stage } from "./support/stage.js";

/** A space that nobody has begun. */
const NOWHERE = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH";
const SHOTS = process.env["SHELL_SHOTS"] ?? join(tmpdir(), "tidemark-shell-shots");

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
  mkdirSync(SHOTS, { recursive: true });
});

afterAll(async () => {
  await stage.close();
});

test.each(["light", "dark"] as const)(
  "at 360 px nothing scrolls sideways, in %s",
  async (scheme) => {
    const ana = await stage.person({
      viewport: { width: 360, height: 740 },
      colorScheme: scheme,
      reducedMotion: "reduce",
    });
    const page = await stage.tab(ana);
    const poll = pollOn(page);
    await poll.button("Soup").click();
    await poll.settled();
    await shot(page, `poll-${scheme}`);
    await page.getByText("Everything in this piece").click();
    await page.getByRole("heading", { name: "What can be done" }).waitFor();
    await shot(page, `parts-${scheme}`);
    await page.getByLabel(/^You are /u).click();
    await shot(page, `who-${scheme}`);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: /All of this space/u }).click();
    await page.getByRole("heading", { name: "What is in this space" }).waitFor();
    await shot(page, `space-${scheme}`);
    await page.goto(`${stage.url}/#/space/${NOWHERE}`);
    await page.getByRole("heading", { name: "Nothing to see under this link" }).waitFor();
    await shot(page, `unknown-${scheme}`);
    await ana.close();
  },
);

test("the whole poll works by keyboard alone, and focus is seen", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana);
  const poll = pollOn(page);
  await poll.button("Salad").waitFor();
  await tabTo(page, "Salad");
  expect(await page.evaluate(outlineOfFocus)).not.toBe("0px");
  await page.keyboard.press("Enter");
  await poll.mine("Salad");
  await page.keyboard.press("Space");
  await page.locator('.option-button[aria-pressed="false"]', { hasText: "Salad" }).waitFor();
  await tabTo(page, "Add an option");
  await page.keyboard.type("Dumplings");
  await page.keyboard.press("Enter");
  await poll.button("Dumplings").waitFor();
  await page.keyboard.type("dumplings");
  await page.keyboard.press("Enter");
  await page.getByText("Dumplings is on the list.").waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await poll.mine("Dumplings");
  await ana.close();
});

test("a form says what is missing, and what became of what it sent", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana);
  await page.getByText("Everything in this piece").click();
  const form = page.getByRole("form", { name: "Vote", exact: true });
  await form.getByRole("button").click();
  await form.getByText("Please fill this in.").waitFor();
  await form.getByLabel("Option").fill("Gravel");
  await form.getByRole("button").click();
  await form.getByText("That did not work: Gravel is not on the list").waitFor();
  await form.getByLabel("Option").fill("Soup");
  await form.getByRole("button").click();
  await form.getByText("Done.").waitFor();
  await form.getByLabel("Option").press("Enter");
  await form.getByText("Please fill this in.").waitFor();
  expect(await form.getByText("Done.").count()).toBe(0);
  await pollOn(page).mine("Soup");
  await ana.close();
});

test("at 360 px a long option without a space breaks no header of a table", async () => {
  const ana = await stage.person({ viewport: { width: 360, height: 740 } });
  const page = await stage.tab(ana);
  const long = "Pneumonoultramicroscopicsilicovolcanoconiosis".padEnd(70, "s");
  await pollOn(page).button("Soup").waitFor();
  await page.getByPlaceholder("Add an option").fill(long);
  await page.keyboard.press("Enter");
  await pollOn(page).button(long).click();
  await pollOn(page).settled();
  await page.getByText("Everything in this piece").click();
  const votes = page.getByRole("columnheader", { name: "Votes" });
  await votes.waitFor();
  await shot(page, "long-option");
  expect(await votes.evaluate(linesOf)).toBe(1);
  await ana.close();
});

test("a link that leads nowhere says so kindly", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana, "#/space/not-a-space");
  await page.getByRole("heading", { name: "This link leads nowhere" }).waitFor();
  await page.getByRole("link", { name: "Go to the start" }).click();
  await pollOn(page).button("Soup").waitFor();
  await ana.close();
});

test("who loses access is told, sees nothing further, and is back by itself when it is given again", async () => {
  const ana = await stage.person();
  const page = await stage.tab(ana);
  await pollOn(page).button("Soup").waitFor();
  const kept = [{ name: "tidemark.key", value: stage.toolshed.demoOwnerSeed() }];
  const owner = await stage.person({
    storageState: { cookies: [], origins: [{ origin: stage.url, localStorage: kept }] },
  });
  const desk = await stage.tab(owner, `#/space/${stage.toolshed.demoSpace}`);
  const everybody = desk.getByLabel("Everybody with the link");
  await everybody.selectOption({ label: "may only look" });
  await desk.getByText("Changed.").waitFor();
  await page.getByText("You may look at this space.").waitFor();
  await pollOn(page).button("Soup").click();
  await page.getByText("The server did not take it: you may look").waitFor();
  await everybody.selectOption({ label: "may not see it" });
  await page.getByRole("heading", { name: "This space is no longer shared with you" }).waitFor();
  expect(await page.locator(".option").count()).toBe(0);
  await everybody.selectOption({ label: "may only look" });
  await pollOn(page).button("Soup").waitFor();
  await Promise.all([ana.close(), owner.close()]);
});

test("no page has reported an error, and none asked another server for anything", () => {
  expect(stage.pageErrors).toEqual([]);
  expect(stage.foreignRequests).toEqual([]);
});

async function shot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  expect(content, name).toBeLessThanOrEqual(window ?? 0);
}

/** Presses Tab until something with this text or placeholder has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const { activeElement: element } = document;
      return `${element?.textContent ?? ""} ${element?.getAttribute("placeholder") ?? ""}`;
    });
    if (focused.includes(text)) return;
  }
  throw new Error(`Tab never led to ${text}`);
}

function outlineOfFocus(): string {
  const { activeElement } = document;
  return activeElement === null ? "0px" : getComputedStyle(activeElement).outlineWidth;
}

/** How many lines the text of an element takes. */
function linesOf(element: Element): number {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getClientRects().length;
}
