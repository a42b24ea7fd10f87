export {
  createTestSpace,
  TestSpace,
  type FireOptions,
  type TestSpaceOptions,
} from "./test-space.js";
// For packages that import the runtime alone.
export { checkSpecCoverage, runReadmeExample } from "@tidemark/protocol/testing";
