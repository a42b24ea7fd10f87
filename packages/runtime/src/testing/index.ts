export {
  createTestSpace,
  TestSpace,
  type FireOptions,
  type TestSpaceOptions,
} from "./test-space.js";
