import { expect, test } from "vitest";
import { checkSpecCoverage } from "../src/testing/index.js";

checkSpecCoverage({
  specFile: new URL("../SPEC.md", import.meta.url).href,
  testDir: new URL(".", import.meta.url).href,
  test,
  expect,
});
