import { rmSync } from "node:fs";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { ServerProcess } from "./server-process.js";

const ARGS = [
  "--no-sandbox",
  "--headless",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Nothing that a test waits for takes longer, or it has gone wrong. */
const WAIT_MS = 15_000;

/** A real toolshed, and a real browser to look at it with. */
export class Stage {
  readonly #browser: Browser;
  #toolshed: ServerProcess;
  /** Errors that pages reported; a test that expects none looks here. */
  readonly pageErrors: string[] = [];
  /** What pages asked of any other server. */
  readonly foreignRequests: string[] = [];

  private constructor(browser: Browser, toolshed: ServerProcess) {
    this.#browser = browser;
    this.#toolshed = toolshed;
  }

  static async open(): Promise<Stage> {
    const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
    const [browser, toolshed] = await Promise.all([
      chromium.launch({ executablePath, args: ARGS }),
      ServerProcess.start({}),
    ]);
    return new Stage(browser, toolshed);
  }

  get toolshed(): ServerProcess {
    return this.#toolshed;
  }

  get url(): string {
    return this.#toolshed.url;
  }

  /** Somebody with a browser of their own. */
  async person(options: Parameters<Browser["newContext"]>[0] = {}): Promise<BrowserContext> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(WAIT_MS);
    context.on("request", (request) => {
      if (!request.url().startsWith(this.url)) this.foreignRequests.push(request.url());
    });
    context.on("weberror", (error) => this.pageErrors.push(error.error().message));
    context.on("console", (message) => {
      // A server that is gone is what some tests are about.
      const known = /WebSocket connection|ERR_CONNECTION|Failed to load resource/u;
      if (message.type() === "error" && !known.test(message.text())) {
        this.pageErrors.push(message.text());
      }
    });
    return context;
  }

  /** A tab at the server's start page, or at a link of it. */
  async tab(context: BrowserContext, hash = ""): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${this.url}/${hash}`);
    return page;
  }

  /** `kill -9`. */
  async crash(): Promise<void> {
    await this.#toolshed.crash();
  }

  /** Starts the server again on the same port and data folder. */
  async restart(): Promise<void> {
    const { dataDir, port } = this.#toolshed;
    this.#toolshed = await ServerProcess.start({ dataDir, port });
  }

  async close(): Promise<void> {
    await Promise.all([this.#browser.close(), this.#toolshed.crash()]);
    rmSync(this.#toolshed.dataDir, { recursive: true, force: true });
  }
}
