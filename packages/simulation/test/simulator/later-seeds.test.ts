import { describe } from "vitest";
import { holdSeeds } from "./seeds.js";

describe("seeds", () => holdSeeds("second"));
