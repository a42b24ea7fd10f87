import { checkSpecCoverage } from "@tidemark/protocol/testing";
import { expect, test } from "vitest";

checkSpecCoverage({
  specFile: new URL("../SPEC.md", import.meta.url).href,
  testDir: new URL(".", import.meta.url).href,
  test,
  expect,
});
