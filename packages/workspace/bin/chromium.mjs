import { existsSync } from "node:fs";
import { run } from "./lib.mjs";

const USUAL_PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * The Chromium of the browser tests: the one that CHROMIUM names, one in a usual place, or Debian's, installed where
 * this process may install packages. `undefined` where there is none to be had.
 */
export async function findChromium() {
  const found = [process.env.CHROMIUM, ...USUAL_PLACES].find((path) => path && existsSync(path));
  if (found) return found;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  console.log("Installing Debian's Chromium for the browser tests");
  await run("apt-get", ["update"], { quiet: true });
  await run("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], {
    quiet: true,
    env: { DEBIAN_FRONTEND: "noninteractive" },
  });
  return existsSync("/usr/bin/chromium") ? "/usr/bin/chromium" : undefined;
}
