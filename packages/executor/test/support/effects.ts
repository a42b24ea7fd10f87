import type { DocId, JsonValue } from "@tidemark/protocol";
import { cell, computed, fetchData, handler, pattern } from "@tidemark/runtime";
import { z } from "zod";
import { StorageError } from "@tidemark/protocol";
import { ManualPerformer } from "../../src/testing/index.js";
import { lab } from "./patterns.js";
import { createWorld, type World, type WorldOptions } from "./world.js";

export const page = pattern({
  id: "page",
  version: "1",
  build: () => {
    const url = cell("url", z.string(), { default: "1" });
    const n = cell("n", z.number(), { default: 0 });
    const data = fetchData("data", () => ({ url: `https://x.test/${url.get()}` }));
    const body = computed("body", () => data.get()?.result ?? null);
    const failed = computed("failed", () => data.get()?.error?.kind ?? null);
    const go = handler("go", z.string(), (to) => url.set(to));
    const inc = handler("inc", z.unknown(), () => n.increment());
    const seen = cell("seen", z.array(z.boolean()), { default: [] });
    const read = handler("read", z.unknown(), async (_payload, ctx) => {
      const before = data.get()?.pending === true;
      await lab.doors.get("read");
      ctx.cell(seen).set([before, ctx.cell(data).get()?.pending === true]);
    });
    const lazy = fetchData("lazy", () => ({ url: `https://x.test/${url.get()}` }));
    const peek = handler("peek", z.unknown(), async (_payload, ctx) => {
      await lab.doors.get("peek");
      ctx.cell(lazy).get();
    });
    return { url, n, data, body, failed, seen, lazy, go, inc, read, peek };
  },
});

/** A world with one page, whose requests are answered by hand. */
export interface Fetching extends World {
  readonly performer: ManualPerformer;
  readonly piece: DocId;
  outstanding(): readonly string[];
  ask(url: string, settled?: number): Promise<void>;
}

export async function fetching(options: Partial<WorldOptions> = {}): Promise<Fetching> {
  const performer = new ManualPerformer();
  const w = await createWorld({ patterns: [page], effects: { fetchData: performer }, ...options });
  const piece = await w.create(page);
  await w.open(w.owner, piece, ["body", "failed"]);
  await w.settle();
  return {
    ...w,
    performer,
    piece,
    outstanding: () => performer.outstanding().map(nameOf),
    ask: async (url, settled) => {
      await w.write(w.owner, piece, "url", url);
      await w.settle(settled);
    },
  };
}

/** What a request of a page is known by. */
export function nameOf(call: { readonly request: JsonValue }): string {
  return (call.request as { readonly url: string }).url.slice("https://x.test/".length);
}

export const io = (): StorageError => new StorageError("the disk is away", { kind: "io" });
