import { expect, test } from "vitest";
import { SAME_REQUEST_MS, stopRequests } from "../src/cli/stop-requests.js";

test("a signal that comes twice at once is one request, and a later one ends the process there and then", () => {
  const asked = stopRequests();
  expect(asked(5_000)).toBe("stop");
  expect(asked(5_000)).toBe("same");
  expect(asked(5_000 + SAME_REQUEST_MS - 1)).toBe("same");
  expect(asked(5_000 + SAME_REQUEST_MS)).toBe("exit");
});
