import { expect, test } from "vitest";
import { entryOfRow } from "../../src/stream/entry-row.js";

const ROW = {
  pos: 4_096,
  stream: "stream:s",
  event_id: "e1",
  payload: '{"by":1}',
  actor: 1,
  client_seq: null,
  appended_at: 5,
  consequenced: 0,
  status: null,
  outcome: null,
  extra: null,
};

const entryOf = (row: object) =>
  entryOfRow({ ...ROW, ...row } as never, { principal: undefined, session: undefined } as never);

test("[ME-S9] an entry whose stored fields cannot be read is given as unreadable, and stops no scan", () => {
  expect(entryOf({}).unreadable).toBeUndefined();
  for (const damaged of [
    { payload: "{{{" },
    { payload: "" },
    { extra: "7" },
    { extra: "[]" },
    { extra: "null" },
    { extra: "not json" },
    { outcome: '"x"' },
  ]) {
    const entry = entryOf(damaged);
    expect(entry, JSON.stringify(damaged)).toMatchObject({ eventId: "e1", unreadable: true });
  }
  expect(entryOf({ payload: "{{{" }).payload).toBeUndefined();
});
