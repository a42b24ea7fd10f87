import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  action,
  cell,
  type Cell,
  computed,
  type Computed,
  handler,
  ifElse,
  map,
  pattern,
  type Stream,
  unless,
} from "../src/index.js";

test("[RT-A1] handles are typed by schemas, defaults and what computations return", () => {
  pattern({
    id: "typed",
    version: "1",
    argument: z.object({ title: z.string().default("x"), n: z.number().optional() }),
    build: ({ argument }) => {
      expectTypeOf(argument.get()).toEqualTypeOf<{ title: string; n?: number | undefined }>();
      expectTypeOf(argument.key("title").get()).toEqualTypeOf<string>();
      const maybe = cell("maybe", z.object({ a: z.number() }));
      expectTypeOf(maybe.get()).toEqualTypeOf<{ a: number } | undefined>();
      expectTypeOf(maybe.key("a").get()).toEqualTypeOf<number | undefined>();
      const votes = cell("votes", z.record(z.string(), z.string()), { default: {} });
      expectTypeOf(votes.key("ana")).toEqualTypeOf<Cell<string | undefined>>();
      const list = cell("list", z.array(z.object({ id: z.string() })), { default: [] });
      expectTypeOf(list.key(0).get()).toEqualTypeOf<{ id: string } | undefined>();
      expectTypeOf(list.append).parameter(0).toEqualTypeOf<{ id: string }>();
      const rows = map("rows", list, (item) => item.key("id").get().length);
      expectTypeOf(rows).toEqualTypeOf<Computed<number[]>>();
      const on = cell("on", z.boolean(), { default: false });
      expectTypeOf(ifElse("either", on, votes, () => 1).get()).toEqualTypeOf<
        Record<string, string> | number
      >();
      expectTypeOf(
        unless(
          "name",
          () => maybe.get(),
          () => "none",
        ).get(),
      ).toEqualTypeOf<{ a: number } | string>();
      const count = computed("count", () => rows.get().length);
      expectTypeOf(count.get()).toEqualTypeOf<number>();
      const payload = z.object({ by: z.number().default(1) });
      const add = handler("add", payload, (event) => {
        expectTypeOf(event).toEqualTypeOf<{ by: number }>();
      });
      expectTypeOf(add).toEqualTypeOf<Stream<{ by?: number | undefined }>>();
      const reset = action("reset", () => undefined);
      expectTypeOf(reset.send).parameter(0).toEqualTypeOf<null | undefined | void>();
      return { count, add };
    },
  });
});
