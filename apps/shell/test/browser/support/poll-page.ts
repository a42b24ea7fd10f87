import type { Locator, Page } from "playwright-core";

/** The lunch poll, as a person finds it on a page. */
export function pollOn(page: Page) {
  const row = (option: string): Locator =>
    page.locator(".option", { has: page.locator(".option-name", { hasText: exactly(option) }) });
  return {
    row,
    button: (option: string): Locator => row(option).getByRole("button"),
    /** Waits until so many are for the option. */
    votes: (option: string, count: number): Promise<void> =>
      row(option)
        .locator(".option-votes", { hasText: new RegExp(`^${count} votes?$`, "u") })
        .waitFor(),
    /** Waits until the option is shown as this person's own vote. */
    mine: (option: string): Promise<void> => row(option).locator('[aria-pressed="true"]').waitFor(),
    voter: (option: string, name: string): Promise<void> =>
      row(option)
        .locator(".person-name", { hasText: exactly(name) })
        .waitFor(),
    settled: (): Promise<void> =>
      page.locator('[data-kind="settled"]', { hasText: exactly("Settled") }).waitFor(),
    connection: (words: RegExp): Promise<void> =>
      page.locator('[data-kind="connection"]', { hasText: words }).waitFor(),
    myName: async (): Promise<string> =>
      (await page.locator(".who .person-name").first().textContent()) ?? "",
  };
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/gu, "\\$&")}$`, "u");
}
