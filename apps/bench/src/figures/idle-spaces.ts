import { formatNumber } from "../report/numbers.js";
import { Child } from "../support/child.js";
import type { Figure } from "../support/figure.js";

const REACH_MB = 0.5;
const MB = 1_048_576;

/** What the child measured. */
export interface IdleSpaces {
  /** Of the process as the system counts it. */
  readonly bytesEach: number;
  readonly heapBytesEach: number;
  readonly timersLeft: number;
  readonly openSpaces: number;
}

/** Spaces that were opened, used once and left: what each still holds, in a process of their own. */
export const idleSpaces: Figure = {
  name: "idle-spaces",
  about: "200 idle spaces opened, then parked: MB each after collection, timers left",
  async measure({ quick, folder }) {
    const count = quick ? 40 : 200;
    const child = new Child("idle-spaces", [folder(), String(count)]);
    const result = await child.next<IdleSpaces>();
    await child.stop();
    const ours = Math.max(result.bytesEach, result.heapBytesEach) / MB;
    const { timersLeft, openSpaces } = result;
    return [
      {
        figure: `${count} idle spaces parked, each`,
        unit: "MB",
        ours,
        target: `≤ ${REACH_MB} MB, no timer left`,
        met: ours <= REACH_MB && timersLeft === 0,
        note:
          `${formatNumber(result.heapBytesEach / MB)} MB of it heap; ` +
          `${timersLeft} timers and ${openSpaces} open stores left`,
      },
    ];
  },
};
