import { cell, computed, fetchData, handler, pattern } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { stage } from "../src/testing/index.js";

const weather = pattern({
  id: "weather",
  version: "1",
  build: () => {
    const city = cell("city", z.string(), { default: "" });
    const report = fetchData(
      "report",
      () => (city.get() === "" ? undefined : { url: `https://weather.example/${city.get()}` }),
      { schema: z.object({ degrees: z.number() }) },
    );
    const words = computed("words", () => {
      const shown = report.get();
      if (shown === undefined) return "no city yet";
      if (shown.pending) return "asking";
      return shown.error?.kind ?? `${shown.result?.degrees ?? 0} degrees`;
    });
    const choose = handler("choose", z.string(), (name) => city.set(name));
    return { city, report, words, choose };
  },
});

test("[PA-S1] on a stage an effectful node says what it asks for, and takes what the test answers", async () => {
  const { fire, see, asked, answer, fail } = await stage(weather);
  expect([see("words"), asked("report")]).toEqual(["no city yet", undefined]);

  await fire("choose", "oslo");
  expect(see("words")).toBe("asking");
  expect(asked("report")).toMatchObject({ url: "https://weather.example/oslo", method: "GET" });
  await answer("report", { degrees: 4 });
  expect([see("words"), asked("report")]).toEqual(["4 degrees", undefined]);
  await expect(answer("report", { degrees: 5 })).rejects.toThrow(/waits for no answer/u);

  await fire("choose", "rome");
  await fail("report", { kind: "timeout", message: "too late" });
  expect(see("words")).toBe("timeout");
});
