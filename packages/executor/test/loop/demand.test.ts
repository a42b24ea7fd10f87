import fc from "fast-check";
import { expect, test } from "vitest";
import type { InstanceKey } from "@tidemark/protocol";
import { DemandRegistry } from "../../src/loop/demand.js";

const share = (...keys: string[]) => ({ keys: new Set(keys as InstanceKey[]) });

test("[EX-N1] a share that is the object held costs no key, and roots enter and leave with their last demander", () => {
  const registry = new DemandRegistry();
  const ana = share("x", "y");
  expect(registry.reconcile(new Map([["ana", ana]]))).toMatchObject({
    entered: ["x", "y"],
    left: [],
    reconciled: 2,
  });
  const ben = share("y");
  expect(
    registry.reconcile(
      new Map([
        ["ana", ana],
        ["ben", ben],
      ]),
    ),
  ).toEqual({
    entered: [],
    left: [],
    reconciled: 1,
  });
  expect(registry.reconcile(new Map([["ben", ben]]))).toMatchObject({ left: ["x"] });
  expect([registry.instances, registry.pairs]).toEqual([1, 1]);
});

test("[EX-N1] any sequence of shares leaves the union of the last ones demanded", () => {
  const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
  const round = fc.dictionary(fc.constantFrom("s1", "s2", "s3"), keys);
  fc.assert(
    fc.property(fc.array(round), (rounds) => {
      const registry = new DemandRegistry();
      const demanded = new Set<string>();
      for (const one of rounds) {
        const shares = new Map(
          Object.entries(one).map(([session, list]) => [session, share(...list)]),
        );
        const { entered, left } = registry.reconcile(shares);
        for (const key of left) demanded.delete(key);
        for (const key of entered) demanded.add(key);
        expect(demanded).toEqual(new Set(Object.values(one).flat()));
        expect(registry.pairs).toBe(Object.values(one).flat().length);
      }
    }),
  );
});
