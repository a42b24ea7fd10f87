import { phaseOf } from "../model/process-steps.js";
import type { Scene } from "./scenes.js";
import { betweenRuns } from "./stops.js";

/** Whether a real system can be led so. */
export function isPlayable({ action, before }: Scene, earlier: readonly Scene[]): boolean {
  switch (action.do) {
    // One whose lease runs out while it activates gives the row back before it asks again.
    case "acquire": {
      const { holder, tenure } = before.processes[action.process] ?? {};
      return tenure !== undefined || before.lease?.holder !== holder;
    }
    // One that asks again at once and is refused leaves the row to the rival; one whose commit was refused does not ask.
    case "release": {
      const { holder, tenure } = before.processes[action.process] ?? {};
      const own = before.lease?.holder === holder;
      return own || !tenure?.over || earlier.some((scene) => scene.action.do === "refuse");
    }
    // A process that runs to the end by itself can not be met in between.
    case "crash":
    case "suspend": {
      const process = before.processes[action.process];
      const phase = process && phaseOf(process);
      return phase !== "with sealed work" || betweenRuns(before, process?.tenure) !== undefined;
    }
    default:
      return true;
  }
}
