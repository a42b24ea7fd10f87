import { describe, expect, test } from "vitest";
import type { PatchOp, ValueOperation } from "@tidemark/protocol";
import { Overlay } from "@tidemark/speculation";
import {
  append,
  echo,
  event,
  FakeReplica,
  increment,
  key,
  local,
  opsOf,
  set,
  STREAM,
  at,
} from "./support.js";

function setup(): { replica: FakeReplica; overlay: Overlay; see: (name: string) => unknown } {
  const replica = new FakeReplica();
  const overlay = new Overlay(replica);
  return { replica, overlay, see: (name) => overlay.view.get(key(name))?.value };
}

describe("entries", () => {
  test("[SP-E1] what is seen is the replica's value with the entries applied in the order things were done", () => {
    const { replica, overlay, see } = setup();
    replica.row("xs", ["a"], 1);
    overlay.openIntent(event("e1"), STREAM);
    overlay.sealEdit(local(1), opsOf({ xs: append("edit") }), at(1));
    overlay.sealHandler(event("e1"), echo("e1", { xs: append("e1") }));
    expect(see("xs")).toEqual(["a", "edit", "e1"]);
    expect(overlay.size).toBe(2);
    replica.row("xs", ["a", "b"], 2);
    expect(see("xs")).toEqual(["a", "b", "edit", "e1"]);
  });

  test("[SP-E2] changes name each document whose visible value moved, with both values", () => {
    const { replica, overlay } = setup();
    replica.row("n", 1, 1);
    overlay.openIntent(event("e1"), STREAM);
    const { changes } = overlay.sealHandler(
      event("e1"),
      echo("e1", { n: increment(2), m: set(1) }),
    );
    expect(changes).toEqual([
      { key: key("n"), before: 1, after: 3 },
      { key: key("m"), before: undefined, after: 1 },
    ]);
    expect(overlay.endIntent(event("e1"))).toEqual([
      { key: key("n"), before: 3, after: 1 },
      { key: key("m"), before: 1, after: undefined },
    ]);
  });

  test("[SP-E3] a computed's entry has the origins of what it read, and one that read nothing speculative is not kept", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", 1, 1);
    replica.row("double", 2, 1, "derived");
    expect(overlay.sealDerived(echo("double", { double: set(99) }, ["n"])).accepted).toBe(false);
    expect(see("double")).toBe(2);
    overlay.openIntent(event("e1"), STREAM);
    overlay.sealHandler(event("e1"), echo("e1", { n: set(5) }));
    expect(overlay.sealDerived(echo("double", { double: set(10) }, ["n"])).accepted).toBe(true);
    overlay.sealDerived(echo("quad", { quad: set(20) }, ["double"]));
    expect(see("quad")).toBe(20);
    expect([...overlay.derived].map((entry) => [...entry.origins])).toEqual([
      ["intent e1"],
      ["intent e1"],
    ]);
    overlay.endIntent(event("e1"));
    expect([see("double"), see("quad"), overlay.size]).toEqual([2, undefined, 0]);
  });

  test("[SP-E4] a newer entry of a computed retires the older and keeps waiting for the older's edit", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", 1, 1);
    replica.row("double", 2, 1, "derived");
    overlay.sealEdit(local(1), opsOf({ n: set(5) }), at(1));
    overlay.sealDerived(echo("double", { double: set(10) }, ["n"]));
    overlay.acked(local(1), at(7));
    replica.row("n", 5, 7, "authored");
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(1);
    overlay.sealDerived(echo("double", { double: set(11) }, ["n"]));
    expect([see("double"), overlay.size]).toEqual([11, 1]);
    replica.watermark = at(7);
    replica.row("double", 10, 8, "derived");
    overlay.sweep(replica.facts);
    expect([see("double"), overlay.size]).toEqual([10, 0]);
  });

  test("[SP-E6] a swapped pattern's computed takes the place of its predecessor's entry", () => {
    const { replica, overlay, see } = setup();
    replica.row("version", 1, 1, "derived");
    overlay.sealEdit(local(1), opsOf({ piece: set("two") }), at(1));
    overlay.sealDerived(echo("two/version", { version: set(2) }, ["piece"]));
    expect(see("version")).toBe(2);
    overlay.sealEdit(local(2), opsOf({ piece: set("one") }), at(1));
    overlay.sealDerived(echo("one/version", { version: set(1) }, ["piece"]));
    expect(see("version")).toBe(1);
    expect([...overlay.derived]).toHaveLength(1);
    overlay.acked(local(1), at(2));
    overlay.acked(local(2), at(3));
    replica.frameSeq = at(3);
    replica.watermark = at(3);
    overlay.sweep(replica.facts);
    expect(see("version")).toBe(1);
    expect([...overlay.derived]).toHaveLength(0);
  });

  test("[SP-E5] a computed that turned out pending withdraws its entry", () => {
    const { replica, overlay, see } = setup();
    replica.row("double", 2, 1, "derived");
    overlay.openIntent(event("e1"), STREAM);
    overlay.sealHandler(event("e1"), echo("e1", { n: set(5) }));
    overlay.sealDerived(echo("double", { double: set(10) }, ["n"]));
    expect(overlay.dropDerived("double")).toEqual([{ key: key("double"), before: 10, after: 2 }]);
    expect(see("double")).toBe(2);
  });
});

describe("intents", () => {
  test("[SP-I1] an event's end takes its echo away, in any order of several", () => {
    for (const order of [
      ["e1", "e2"],
      ["e2", "e1"],
    ]) {
      const { replica, overlay, see } = setup();
      replica.row("xs", [], 1);
      for (const id of ["e1", "e2"]) {
        overlay.openIntent(event(id), STREAM);
        overlay.sealHandler(event(id), echo(id, { xs: append(id) }));
      }
      overlay.endIntent(event(order[0] ?? ""));
      // Rollback removes a layer; it never brings back a copy that held the other's (field fault SP-06).
      expect(see("xs")).toEqual([order[1]]);
      overlay.endIntent(event(order[1] ?? ""));
      expect([see("xs"), overlay.size]).toEqual([[], 0]);
    }
  });

  test("[SP-I2] echoes of events that an echo sent end with their root, through links that wrote nothing", () => {
    const { overlay, see } = setup();
    overlay.openIntent(event("root"), STREAM);
    expect(overlay.openCascade(event("silent"), event("root"))).toBe(true);
    expect(overlay.openCascade(event("leaf"), event("silent"))).toBe(true);
    overlay.sealHandler(event("leaf"), echo("leaf", { joined: set(1) }));
    expect(see("joined")).toBe(1);
    overlay.endIntent(event("root"));
    expect([see("joined"), overlay.size]).toEqual([undefined, 0]);
    expect(overlay.openCascade(event("later"), event("root"))).toBe(false);
  });

  test("[SP-I3] an echo sealed after its event has ended is dropped before it shows", () => {
    const { overlay, see } = setup();
    overlay.openIntent(event("e1"), STREAM);
    overlay.openCascade(event("child"), event("e1"));
    overlay.endIntent(event("e1"));
    for (const id of ["e1", "child"]) {
      const late = overlay.sealHandler(event(id), echo(id, { n: set(1) }));
      expect(late).toEqual({ accepted: false, changes: [] });
    }
    expect([see("n"), overlay.size]).toEqual([undefined, 0]);
  });

  test("[SP-I4] an event whose end was missed ends when eventWatermark or W has passed its entry", () => {
    for (const signal of ["frontier", "watermark"]) {
      const { replica, overlay } = setup();
      overlay.openIntent(event("e1"), STREAM);
      overlay.sealHandler(event("e1"), echo("e1", { n: set(1) }));
      if (signal === "frontier") replica.frontiers.set(STREAM, at(5));
      else replica.watermark = at(5);
      expect(overlay.sweep(replica.facts).passed).toEqual([]);
      overlay.appended(event("e1"), at(6));
      expect(overlay.sweep(replica.facts).passed).toEqual([]);
      replica.frontiers.set(STREAM, at(signal === "frontier" ? 6 : 0));
      replica.watermark = at(signal === "frontier" ? 5 : 6);
      expect(overlay.sweep(replica.facts).passed).toEqual([event("e1")]);
      expect(overlay.size).toBe(0);
    }
  });
});

describe("edits", () => {
  test("[SP-N1] an edit shows until it is acknowledged and the frames have reached its commit", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", 1, 1);
    overlay.sealEdit(local(1), opsOf({ n: set(5) }), at(1));
    replica.row("other", 0, 40);
    overlay.sweep(replica.facts);
    expect(see("n")).toBe(5);
    overlay.acked(local(1), at(41));
    overlay.sweep(replica.facts);
    expect([see("n"), overlay.size]).toEqual([5, 1]);
    replica.row("n", 5, 41, "authored");
    overlay.sweep(replica.facts);
    expect([see("n"), overlay.size]).toEqual([5, 0]);
  });

  test("[SP-N2] an edit of a document that was asked for and has not come stands until it does", () => {
    const { replica, overlay, see } = setup();
    replica.awaitedKeys.add(key("piece"));
    overlay.sealEdit(local(1), opsOf({ piece: set("new") }), at(0));
    overlay.acked(local(1), at(3));
    replica.frameSeq = at(4);
    overlay.sweep(replica.facts);
    expect(see("piece")).toBe("new");
    replica.awaitedKeys.clear();
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(0);
  });

  test("[SP-N3] a refused edit leaves, with what followed from it alone", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", 1, 1);
    replica.row("double", 2, 1, "derived");
    overlay.sealEdit(local(1), opsOf({ n: set(5) }), at(1));
    overlay.sealDerived(echo("double", { double: set(10) }, ["n"]));
    overlay.refuseInput(local(1));
    expect([see("n"), see("double"), overlay.size]).toEqual([1, 2, 0]);
  });

  test("[SP-N4] what follows from an edit needs its ack, W at its floor, and its documents' arrival", () => {
    const steps: Record<string, (replica: FakeReplica, overlay: Overlay) => void> = {
      ack: (_, overlay) => overlay.acked(local(1), at(7)),
      coverage: (replica) => void (replica.watermark = at(7)),
      arrival: (replica) => replica.row("double", 11, 8, "derived"),
    };
    const names = Object.keys(steps);
    const orders = names.flatMap((a) =>
      names.filter((b) => b !== a).map((b) => [a, b, ...names.filter((c) => c !== a && c !== b)]),
    );
    expect(orders).toHaveLength(6);
    for (const order of orders) {
      const { replica, overlay, see } = setup();
      replica.row("n", 1, 1);
      replica.row("double", 2, 1, "derived");
      overlay.sealEdit(local(1), opsOf({ n: set(5) }), at(1));
      overlay.sealDerived(echo("double", { double: set(10) }, ["n"]));
      for (const [done, name] of order.entries()) {
        steps[name]?.(replica, overlay);
        overlay.sweep(replica.facts);
        // It retires with the third, whichever that is, although the values differ.
        expect(see("double"), `${order.join()} after ${name}`).toBe(done < 2 ? 10 : 11);
      }
      expect([...overlay.derived]).toEqual([]);
    }
  });

  test("[SP-N5] at the floor only a derived cover counts as arrival, and a class that is not known does not", () => {
    for (const cover of ["authored", "system", undefined, "derived"] as const) {
      const { replica, overlay, see } = setup();
      replica.row("double", 2, 1, "derived");
      overlay.sealEdit(local(1), opsOf({ n: set(5) }), at(1));
      overlay.sealDerived(echo("double", { double: set(10) }, ["n"]));
      overlay.acked(local(1), at(7));
      replica.watermark = at(7);
      replica.row("double", 3, 7, cover);
      overlay.sweep(replica.facts);
      expect(see("double")).toBe(cover === "derived" ? 3 : 10);
    }
  });

  test("[SP-N6] where the server's value was the same before, agreement stands for the row that never comes", () => {
    const { replica, overlay } = setup();
    replica.row("even", true, 1, "derived");
    overlay.sealEdit(local(1), opsOf({ n: set(4) }), at(1));
    overlay.sealDerived(echo("even", { even: set(true) }, ["n"]));
    overlay.acked(local(1), at(7));
    replica.frameSeq = at(7);
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(1);
    replica.watermark = at(7);
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(0);
  });

  test("[SP-N11] a computed that runs again on what the last frame brought waits for no other frame", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", 1, 1);
    replica.row("odd", true, 1, "derived");
    overlay.sealEdit(local(1), opsOf({ n: set(2) }), at(1));
    overlay.sealDerived(echo("odd", { odd: set(false) }, ["n"]));
    overlay.acked(local(1), at(3));
    // One frame brings the edit, and with it what somebody else made of it since: `odd` is as it was.
    replica.row("n", 3, 4);
    replica.watermark = at(4);
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(1);
    expect(overlay.sealDerived(echo("odd", { odd: set(true) }, ["n"])).accepted).toBe(false);
    expect([overlay.size, see("odd")]).toEqual([0, true]);
  });

  test("[SP-N7] an instance that the server never serves keeps its echo, however often W moves", () => {
    const { replica, overlay, see } = setup();
    replica.row("double", 2, 1, "derived");
    overlay.sealEdit(local(1), opsOf({ n: set(5) }), at(1));
    overlay.sealDerived(echo("double", { double: set(10) }, ["n"]));
    overlay.acked(local(1), at(7));
    for (let w = 7; w < 50; w += 1) {
      replica.watermark = at(w);
      replica.frameSeq = at(w);
      expect(overlay.sweep(replica.facts).changes.filter((c) => c.key === key("double"))).toEqual(
        [],
      );
    }
    expect(see("double")).toBe(10);
  });

  test("[SP-N10] the echo on a document that no watch reaches goes once W covers the edit", () => {
    const { replica, overlay } = setup();
    overlay.sealEdit(local(1), opsOf({ n: set(4) }), at(1));
    overlay.sealDerived(echo("order", { order: set(["a"]) }, ["n"]));
    overlay.acked(local(1), at(7));
    replica.awaitedKeys.add(key("order"));
    replica.frameSeq = at(7);
    replica.watermark = at(7);
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(1);
    replica.awaitedKeys.clear();
    overlay.sweep(replica.facts);
    expect(overlay.size).toBe(0);
  });

  test("[SP-N9] an edit that is in the store hides what an earlier event's echo wrote there", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", { a: 0, b: 0 }, 1);
    const patch = (path: string, value: number): ValueOperation => ({
      op: "patch",
      value: [{ op: "replace", path: [path], value }],
    });
    overlay.openIntent(event("e1"), STREAM);
    const both: ValueOperation = {
      op: "patch",
      value: [
        { op: "replace", path: ["a"], value: 1 },
        { op: "replace", path: ["b"], value: 1 },
      ],
    };
    overlay.sealHandler(event("e1"), echo("e1", { n: both }));
    overlay.sealEdit(local(1), opsOf({ n: patch("a", 5) }), at(1));
    overlay.openIntent(event("e2"), STREAM);
    overlay.sealHandler(event("e2"), echo("e2", { n: patch("b", 2) }));
    overlay.acked(local(1), at(4));
    replica.row("n", { a: 5, b: 0 }, 4, "authored");
    overlay.sweep(replica.facts);
    expect(see("n")).toEqual({ a: 5, b: 2 });
    overlay.withdrawFrom(0);
    overlay.reopen("intent e1");
    overlay.sealHandler(event("e1"), echo("e1", { n: both }));
    expect(see("n")).toEqual({ a: 5, b: 1 });
    overlay.restore("intent e2");
    expect(see("n")).toEqual({ a: 5, b: 2 });
  });

  test("[SP-N9] an edit that takes an element out hides its addition, and no other", () => {
    const { replica, overlay, see } = setup();
    replica.row("n", ["old"], 1);
    const patch = (...value: PatchOp[]): ValueOperation => ({ op: "patch", value });
    const without = (value: string): PatchOp => ({ op: "remove", path: [], value });
    const append = (value: string): PatchOp => ({ op: "append", path: [], value });
    overlay.openIntent(event("e1"), STREAM);
    overlay.sealHandler(event("e1"), echo("e1", { n: patch(append("new"), append("undone")) }));
    overlay.sealEdit(local(1), opsOf({ n: patch(without("old"), without("undone")) }), at(1));
    overlay.acked(local(1), at(4));
    replica.row("n", [], 4, "authored");
    overlay.sweep(replica.facts);
    expect(see("n")).toEqual(["new"]);
  });
});
