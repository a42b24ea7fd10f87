export { World, type Reader, type WorldNodeOptions, type WorldOptions } from "./world.js";
