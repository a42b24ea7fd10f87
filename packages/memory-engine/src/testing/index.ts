// The memory server's test helpers.
export { createTestStores, type TestStoreOptions } from "../server/testing/memory-stores.js";
export { type Answer, TestClient, type TestClientOptions } from "../server/testing/test-client.js";
export {
  createTestServer,
  TEST_HOLDER,
  type TestServer,
  type TestServerOptions,
} from "../server/testing/test-server.js";
