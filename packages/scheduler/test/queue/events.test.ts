import { VirtualClock } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";
import { World } from "../../src/testing/index.js";
import type { InstanceKey } from "@tidemark/protocol";

const num = (value: unknown): number => Number(value ?? 0);

function gate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}

test("[SC-E1] events run in order, one at a time, ahead of derivations", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("n", 0);
  w.computed("d", (read) => num(read("n")));
  w.watch("d");
  await w.scheduler.settle();
  w.ran();
  let running = 0;
  for (const id of ["e1", "e2", "e3"]) {
    w.scheduler.queueEvent({
      id,
      async run() {
        expect(++running).toBe(1);
        await Promise.resolve();
        w.log.push(id);
        w.set("n", num(w.get("n")) + 1);
        running--;
      },
    });
  }
  await w.scheduler.idle();
  expect(w.ran()).toEqual(["e1", "e2", "e3", "d"]);
  expect(w.get("d")).toBe(3);
});

test("[SC-E2] an event that waits holds later events, not demanded derivations (PF-09)", async () => {
  const clock = new VirtualClock();
  const w = new World({ clock });
  w.set("n", 0);
  w.computed("d", (read) => num(read("n")));
  w.watch("d");
  const load = gate();
  w.scheduler.queueEvent({ id: "e1", run: () => load.promise.then(() => void w.log.push("e1")) });
  w.scheduler.queueEvent({ id: "e2", run: () => void w.log.push("e2") });
  const idle = w.scheduler.idle();
  await clock.drain();
  expect(w.ran()).toEqual(["d"]);
  expect(w.scheduler.inEvent()).toBe(true);
  load.open();
  await idle;
  expect(w.ran()).toEqual(["e1", "e2"]);
});

test("[SC-E3] settle resolves `deadline` when an event is still pending then, and the next goes on with it", async () => {
  const clock = new VirtualClock();
  const w = new World({ clock });
  const load = gate();
  w.scheduler.queueEvent({ id: "e", run: () => load.promise });
  const cut = w.scheduler.settle({ deadlineAt: clock.monotonic() + 100 });
  await clock.advance(100);
  expect((await cut).state).toBe("deadline");
  expect(w.scheduler.busy()).toBe(true);
  const rest = w.scheduler.settle();
  load.open();
  expect((await rest).state).toBe("idle");
  expect(w.scheduler.stats.events).toBe(1);
});

test("[SC-E4] an event that fails is reported and the next one runs", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.scheduler.queueEvent({ id: "bad", run: () => Promise.reject(new Error("no")) });
  w.scheduler.queueEvent({
    id: "worse",
    run: () => {
      throw new Error("never");
    },
  });
  w.scheduler.queueEvent({ id: "good", run: () => void w.log.push("good") });
  await w.scheduler.idle();
  expect(w.ran()).toEqual(["good"]);
  expect(w.reports.map((report) => report.kind)).toEqual(["event-failed", "event-failed"]);
});

test("[SC-E5] queued tasks can be taken back, a started one cannot", async () => {
  const clock = new VirtualClock();
  const w = new World({ clock });
  const load = gate();
  w.scheduler.queueEvent({ id: "a", run: () => load.promise });
  w.scheduler.queueEvent({ id: "b", run: () => void w.log.push("b") });
  w.scheduler.queueEvent({ id: "c", run: () => void w.log.push("c") });
  const idle = w.scheduler.idle();
  await clock.drain();
  expect(w.scheduler.dropQueued((task) => task.id !== "c").map((task) => task.id)).toEqual(["b"]);
  load.open();
  await idle;
  expect(w.ran()).toEqual(["c"]);
});

test("[SC-E6] a handler sees a fresh chain, each link run once, then goes on (PF-01, PF-02)", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("s", 1);
  w.computed("m", (read) => num(read("s")) + 1);
  const o = w.computed("o", (read) => num(read("m")) * 2);
  w.set("s", 4);
  let result = 0;
  w.scheduler.queueEvent({
    id: "e",
    run: () => {
      result = num(w.read("o")) + 5;
      w.log.push("handler");
    },
  });
  await w.scheduler.idle();
  expect(result).toBe(15);
  expect(w.ran()).toEqual(["o", "m", "handler"]);
  expect(o.live).toBe(false);
  w.set("s", 5);
  await w.scheduler.idle();
  expect(w.ran()).toEqual([]);
});

test("[SC-E6] preflight makes recorded inputs current in order, and nothing else (PF-01, PF-04)", async () => {
  const w = new World({ clock: new VirtualClock() });
  w.set("s", 1);
  w.computed("m", (read) => num(read("s")) + 1);
  w.computed("o", (read) => num(read("m")) * 2);
  w.computed("unrelated", (read) => num(read("s")));
  w.read("o");
  w.read("unrelated");
  w.ran();
  w.set("s", 4);
  w.scheduler.preflight([{ key: "o" as InstanceKey, path: [], kind: "value" }]);
  expect(w.ran()).toEqual(["m", "o"]);
});

test("[SC-E7] 100,000 queued events are taken in linear time and order", async () => {
  const w = new World({ clock: new VirtualClock() });
  let next = 0;
  for (let i = 0; i < 100_000; i++) {
    w.scheduler.queueEvent({
      id: `e${i}`,
      run: () => {
        if (next === i) next++;
      },
    });
  }
  await w.scheduler.idle();
  expect(next).toBe(100_000);
});
