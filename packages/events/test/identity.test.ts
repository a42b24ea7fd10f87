import type { IdSource, Link, ScopeKind } from "@tidemark/protocol";
import { expect, test } from "vitest";
import {
  deriveEventKey,
  EVENT_KEY_PREFIX,
  mintEventId,
  openSendOrigin,
  scopeCallerEventId,
} from "../src/index.js";
import { ANA, BEN, ev, OTHER_STREAM, SPACE, STREAM, streamLink } from "./kit.js";

const base = { actor: ANA, event: ev("e1"), stream: streamLink() };

function countingIds(): IdSource {
  let n = 0;
  return { ulid: () => `01J${String((n += 1)).padStart(23, "0")}` };
}

test("[EV-K1] the key is a prefixed content hash, equal for equal inputs wherever it is computed", () => {
  const key = deriveEventKey(base);

  expect(key.startsWith(EVENT_KEY_PREFIX)).toBe(true);
  expect(deriveEventKey({ stream: streamLink(), event: ev("e1"), actor: ANA })).toBe(key);
  // Pinned: a key is an idempotence key in stored data, so no release may change it.
  expect(key).toMatchInlineSnapshot(`"evk:fwhtVfLAo9TST29O3JgFGYaj15OoEF9sfdaIKa_ah_w"`);
});

test("[EV-K2] another event, actor, or stream gives another key", () => {
  const others: readonly Link[] = [
    streamLink(OTHER_STREAM),
    { ...streamLink(), path: ["x"] },
    { ...streamLink(), scope: "user" satisfies ScopeKind },
    { ...streamLink(), space: BEN as unknown as typeof SPACE },
  ];
  const keys = [
    deriveEventKey(base),
    deriveEventKey({ ...base, event: ev("e2") }),
    deriveEventKey({ ...base, actor: BEN }),
    ...others.map((stream) => deriveEventKey({ ...base, stream })),
  ];

  expect(new Set(keys).size).toBe(keys.length);
});

test("[EV-K3] a run without a principal binds null, which equals no principal", () => {
  const nobody = deriveEventKey({ ...base, actor: null });

  expect(nobody).not.toBe(deriveEventKey(base));
  expect(nobody).not.toBe(deriveEventKey({ ...base, actor: "null" as typeof ANA }));
});

test("[EV-K4] a stream's link means the same written short and written out", () => {
  const long: Link = { id: STREAM, path: [], scope: "space", space: SPACE };

  expect(deriveEventKey({ ...base, stream: long })).toBe(deriveEventKey(base));
});

test("[EV-K5] each gesture has an id of its own", () => {
  const ids = countingIds();

  expect(mintEventId(ids)).not.toBe(mintEventId(ids));
});

test("[EV-K6] the sends of one attempt differ, and a retried attempt sends under fresh ids", () => {
  const ids = countingIds();
  const first = openSendOrigin(ids);
  const retry = openSendOrigin(ids);

  const sent = [first.next(), first.next(), retry.next(), retry.next()];

  expect(new Set(sent).size).toBe(4);
});

test("[EV-K7] one caller's id for two streams is two events, and for one stream the same event", () => {
  const call = scopeCallerEventId("call-1", streamLink());

  expect(scopeCallerEventId("call-1", streamLink())).toBe(call);
  expect(scopeCallerEventId("call-1", streamLink(OTHER_STREAM))).not.toBe(call);
  expect(scopeCallerEventId("call-2", streamLink())).not.toBe(call);
});
