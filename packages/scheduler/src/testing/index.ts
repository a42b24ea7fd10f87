export {
  graphCore,
  runGraphBench,
  scheduled,
  type BenchGraph,
  type GraphBenchOptions,
  type GraphBenchRow,
} from "./graph-bench.js";
export { World, type Reader, type WorldNodeOptions, type WorldOptions } from "./world.js";
