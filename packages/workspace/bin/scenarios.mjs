#!/usr/bin/env node
import { handOver } from "./lib.mjs";

// Runs scenario files on the real parts.
await handOver("packages/simulation/dist/cli/scenarios.js");
