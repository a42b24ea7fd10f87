import { describe, expect, test } from "vitest";
import { describeEngine } from "../src/testing/index.js";
import { fileHarness, memoryHarness } from "./support/harness.js";

describe("a store in memory", () => describeEngine(memoryHarness, { test, expect }));
describe("a store in a file", () => describeEngine(fileHarness, { test, expect }));
