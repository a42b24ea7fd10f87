/** `@tidemark/memory-engine/testing`: contract suites for another driver, and what tests of stores need. */
export { describeEngine } from "./describe-engine.js";
export { describeSqlDriver } from "./describe-sql-driver.js";
export type { EngineHarness, EngineHarnessFactory } from "./harness.js";
export { auditExtension } from "./extension-cases.js";
// The memory server's test helpers follow below this line.
export { createTestStores, type TestStoreOptions } from "../server/testing/memory-stores.js";
export { failingStore, type StoreFaultPlan } from "../server/testing/store-faults.js";
export { type Answer, TestClient, type TestClientOptions } from "../server/testing/test-client.js";
export {
  createTestServer,
  TEST_HOLDER,
  type TestServer,
  type TestServerOptions,
} from "../server/testing/test-server.js";
