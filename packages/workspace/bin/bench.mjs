#!/usr/bin/env node
import { handOver } from "./lib.mjs";

// Runs the benchmarks, each beside its yardstick.
await handOver("apps/bench/dist/main.js");
