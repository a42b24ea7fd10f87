import { describe, expect, test } from "vitest";
import { mustRerun, Overlay, rebaseFrom, writtenKeys } from "@tidemark/speculation";
import { append, at, echo, event, FakeReplica, key, local, opsOf, set, STREAM } from "./support.js";

function threeSlots(): { replica: FakeReplica; overlay: Overlay } {
  const replica = new FakeReplica();
  const overlay = new Overlay(replica);
  replica.row("xs", [], 1);
  overlay.openIntent(event("e1"), STREAM);
  overlay.sealHandler(event("e1"), echo("e1", { xs: append("e1") }, ["a"]));
  overlay.ran(event("e1"), new Set([key("a")]));
  overlay.sealEdit(local(1), opsOf({ xs: append("edit") }), at(1));
  overlay.openIntent(event("e2"), STREAM);
  overlay.sealHandler(event("e2"), echo("e2", { xs: append("e2") }, ["xs"]));
  overlay.ran(event("e2"), new Set([key("xs")]));
  return { replica, overlay };
}

describe("rebase", () => {
  test("[SP-R1] an echo is stale when something it read moved, or when it has not run", () => {
    const { overlay } = threeSlots();
    expect(rebaseFrom(overlay.slots, new Set([key("other")]))).toBe(-1);
    expect(rebaseFrom(overlay.slots, new Set([key("xs")]))).toBe(2);
    expect(rebaseFrom(overlay.slots, new Set([key("a")]))).toBe(0);
    overlay.openIntent(event("e3"), STREAM);
    expect(rebaseFrom(overlay.slots, new Set())).toBe(3);
    const edit = overlay.slots[1];
    expect(edit !== undefined && mustRerun(edit, new Set([key("xs")]))).toBe(false);
  });

  test("[SP-R2] an intent that is run anew reads below what was done after it and comes back in its place", () => {
    const { overlay } = threeSlots();
    const see = (): unknown => overlay.view.get(key("xs"))?.value;
    const { slots } = overlay.withdrawFrom(0);
    expect(see()).toEqual([]);
    expect(slots.map((slot) => slot.origin)).toEqual(["intent e1", "input 1", "intent e2"]);
    expect([...overlay.reopen("intent e1")]).toEqual([key("xs")]);
    overlay.sealHandler(event("e1"), echo("e1", { xs: append("again") }));
    overlay.restore("input 1");
    overlay.restore("intent e2");
    expect(see()).toEqual(["again", "edit", "e2"]);
    expect(overlay.size).toBe(3);
  });

  test("[SP-R3] what the earlier run sent is forgotten with it", () => {
    const { overlay } = threeSlots();
    overlay.openCascade(event("child"), event("e1"));
    overlay.sealHandler(event("child"), echo("child", { n: set(1) }));
    const [first] = overlay.slots;
    expect(first === undefined ? [] : [...writtenKeys(first)]).toEqual([key("xs"), key("n")]);
    overlay.withdrawFrom(0);
    overlay.reopen("intent e1");
    expect(overlay.isOpen(event("child"))).toBe(false);
    expect(overlay.view.get(key("n"))).toBeUndefined();
  });

  test("[SP-R4] an event that ends while it is set aside does not come back", () => {
    const { overlay } = threeSlots();
    overlay.withdrawFrom(1);
    overlay.endIntent(event("e2"));
    overlay.restore("input 1");
    overlay.restore("intent e2");
    expect(overlay.view.get(key("xs"))?.value).toEqual(["e1", "edit"]);
  });
});
