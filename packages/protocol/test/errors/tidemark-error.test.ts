import { describe, expect, test } from "vitest";
import {
  ConflictError,
  isTidemarkError,
  LeaseError,
  PatchError,
  ScopeError,
  TidemarkError,
} from "../../src/index.js";

class CycleError extends TidemarkError<{ readonly nodes: readonly string[] }> {
  override readonly name = "CycleError";
  override readonly code = "cycle";
}

describe("TidemarkError", () => {
  test("[PR-E2] the guard knows an error of a second copy of the package", () => {
    const foreign = Object.assign(new Error("stale"), {
      [Symbol.for("tidemark.error")]: true,
      code: "conflict",
    });
    expect(isTidemarkError(foreign)).toBe(true);
    expect(isTidemarkError(foreign, "conflict")).toBe(true);
    expect(isTidemarkError(foreign, "lease")).toBe(false);
  });

  test("[PR-E2] the guard refuses plain errors, look-alikes and no errors at all", () => {
    for (const other of [new Error("x"), { code: "conflict" }, null, undefined, "conflict", 4]) {
      expect(isTidemarkError(other)).toBe(false);
    }
  });

  test("[PR-E2] the guard never throws, whatever it is shown", () => {
    const no = (): never => {
      throw new Error("no");
    };
    expect(isTidemarkError(new Proxy({}, { get: no, has: no, getPrototypeOf: no }))).toBe(false);
  });

  test("[PR-E3] an error carries name, code, structured fields and cause", () => {
    const cause = new Error("disk");
    const error = new PatchError("no list", { path: ["a"], reason: "not-a-list" }, { cause });
    expect(error).toMatchObject({ name: "PatchError", code: "patch", path: ["a"], cause });
    expect(error.reason).toBe("not-a-list");
    expect(String(error)).toBe("PatchError: no list");
    expect("cause" in new LeaseError("lapsed")).toBe(false);
  });

  test("[PR-E3] another package's subclass is known by the guard under its own code", () => {
    const error = new CycleError("a cycle", { nodes: ["a", "b"] });
    expect(isTidemarkError(error, "cycle")).toBe(true);
    expect(error.details.nodes).toEqual(["a", "b"]);
  });

  test("[PR-E3] a scope error's code says who is missing", () => {
    expect(new ScopeError("x", { reason: "no-acting-user" }).code).toBe("no-acting-user");
    expect(new ScopeError("x", { reason: "malformed" }).code).toBe("scope");
  });

  test("[PR-E3] details may be left out only where every one of them is optional", () => {
    // @ts-expect-error a ConflictError names its conflicts
    const error = new ConflictError("stale");
    expect(error.details).toEqual({});
  });
});
