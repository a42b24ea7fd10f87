#!/usr/bin/env node
import { handOver } from "./lib.mjs";

// Brings up toolshed from a fresh clone.
await handOver("apps/toolshed/dist/main.js");
