#!/usr/bin/env node
import { handOver } from "./lib.mjs";

// Runs random worlds on the real parts, each made from a seed.
await handOver("packages/simulation/dist/cli/simulate.js");
