import { checkSpecCoverage } from "@tidemark/runtime/testing";
import { expect, test } from "vitest";

checkSpecCoverage({
  specFile: new URL("../SPEC.md", import.meta.url).href,
  testDir: new URL(".", import.meta.url).href,
  test,
  expect,
});
