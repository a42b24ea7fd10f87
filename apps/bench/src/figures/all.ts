import type { Figure } from "../support/figure.js";
import { activation } from "./activation.js";
import { appendToDurable } from "./append-to-durable.js";
import { authoredCommits } from "./authored-commits.js";
import { clickToFrame } from "./click-to-frame.js";
import { clients } from "./clients.js";
import { derivedCommits } from "./derived-commits.js";
import { eventsPerSecond } from "./events-per-second.js";
import { graph } from "./graph.js";
import { idleSpaces } from "./idle-spaces.js";
import { neighbour } from "./neighbour.js";
import { recovery } from "./recovery.js";
import { storeGrowth } from "./store-growth.js";
import { trace } from "./trace.js";

/** Every figure, in the order of the table. */
export const FIGURES: readonly Figure[] = [
  authoredCommits,
  appendToDurable,
  clickToFrame,
  eventsPerSecond,
  trace,
  storeGrowth,
  graph,
  derivedCommits,
  idleSpaces,
  neighbour,
  clients,
  recovery,
  activation,
];
