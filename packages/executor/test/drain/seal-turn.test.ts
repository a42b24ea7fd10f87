import { expect, test } from "vitest";
import { streamIdFor } from "@tidemark/protocol";
import { runnableOf } from "../../src/drain/places.js";
import { counter, lab, patient } from "../support/patterns.js";
import { stand } from "../support/stand.js";

/** Microtasks between the end of a body's last gate and the begin of a commit. */
const OFFSETS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

const BODIES = [
  { body: "that does not wait", pattern: counter, name: "inc", watched: "count" },
  { body: "that waits", pattern: patient, name: "copy", watched: "twice" },
] as const;

for (const { body, pattern, name, watched } of BODIES) {
  for (const offset of OFFSETS) {
    test(`[EX-W13] no body ${body} is sealed under a commit that begins ${offset} turns after its last gate`, async () => {
      lab.doors.clear();
      const { w, piece, parts } = await stand(pattern, [watched]);
      await w.fire(w.owner, piece, name);
      const [entry] = w.t.engines.get(w.space)?.entries.pending(1) ?? [];
      if (entry?.stream !== streamIdFor(piece, name)) throw new Error("the event is not pending");
      w.t.gates.hold("seal:before");
      w.t.gates.hold("wave:before-commit");
      const delivered = parts.deliveries.deliver(runnableOf(entry));
      await w.t.run();
      w.t.gates.release("seal:before");
      for (let turn = 0; turn < offset; turn += 1) await undefined;
      const committed = parts.commits.commit(parts.coverage.watermark);
      await w.t.run();
      expect(w.t.gates.waiting("wave:before-commit")).toBe(1);
      // It is in that wave, or waits for it; nothing is sealed behind it before the store has spoken.
      expect(parts.accumulator.open.contributions).toEqual([]);
      w.t.gates.release("wave:before-commit");
      await committed;
      expect(await delivered).toEqual({ kind: "sealed" });
      await w.t.stop();
    });
  }
}
