#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { checkTree } from "../src/tree.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { files, violations } = checkTree(root);
for (const { file, line, message } of violations) console.error(`${file}:${line}  ${message}`);
console.log(`${files} files, ${violations.length} violations of the import table`);
process.exitCode = violations.length === 0 ? 0 : 1;
