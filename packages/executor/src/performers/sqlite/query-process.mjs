/*
 * A process of its own around one query at a time. SQLite cannot be interrupted from outside of a statement, and a
 * thread inside native code cannot be ended; a process can. This thread stays free to see to it: it ends the process
 * when it needs too much memory, and when the one that asked is gone.
 *
 * Plain JavaScript, so that the same file runs from the sources and from the built package.
 */
import { Worker } from "node:worker_threads";

/** How often memory is looked at while a query runs, ms. */
const LOOK_EVERY_MS = 10;
const maxMemoryBytes = Number(process.argv[2]);

const thread = new Worker(new URL("./query-thread.mjs", import.meta.url));
/** @type {NodeJS.Timeout | undefined} */
let watch;

/** At once, whatever the other thread does: leaving in order would wait for it. */
const die = () => process.kill(process.pid, "SIGKILL");

const look = () => {
  if (process.memoryUsage.rss() <= maxMemoryBytes) return;
  clearInterval(watch);
  tell({ failure: "memory", message: "" }, die);
};

/** @param {unknown} answer @param {() => void} [then] */
const tell = (answer, then) => void process.send?.(answer, then);

process.on("message", (query) => {
  watch = setInterval(look, LOOK_EVERY_MS);
  thread.postMessage(query, []);
});
thread.on("message", (answer) => {
  clearInterval(watch);
  tell(answer);
});
thread.on("error", die);
process.on("disconnect", die);
