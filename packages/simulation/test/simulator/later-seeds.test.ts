import { describe, test } from "vitest";
import { hold, LATER } from "./seeds.js";

describe("seeds", () => {
  test(
    `[SI-S2] [SI-S4] whatever happens in ${LATER.seeds} worlds from seed ${LATER.from} on, nothing is lost, doubled, reordered or shown wrongly`,
    LATER,
    () => hold(LATER),
  );
});
