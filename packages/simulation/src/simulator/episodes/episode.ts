import type { Planner } from "../planner.js";

/** A stretch of a plan: what some people do, and what befalls the system meanwhile. */
export type Episode = (planner: Planner) => void;
