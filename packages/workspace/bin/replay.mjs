#!/usr/bin/env node
import { handOver } from "./lib.mjs";

// Replays recorded texts into a real server. Memory is compared after collections.
await handOver("packages/simulation/dist/cli/replay.js", { nodeArgs: ["--expose-gc"] });
