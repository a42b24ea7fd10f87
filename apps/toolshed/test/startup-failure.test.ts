import { StorageError } from "@tidemark/protocol";
import { PatternError } from "@tidemark/runtime";
import { expect, test } from "vitest";
import { explainStartupFailure } from "../src/cli/startup-failure.js";

const place = { host: "127.0.0.1", port: 8000, dataDir: "/data" };
const system = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

test.each([
  [system("EADDRINUSE", "listen"), 4, "port 8000 of 127.0.0.1 is taken"],
  [system("EACCES", "listen"), 4, "port 8000 of 127.0.0.1 may not be used"],
  [system("EADDRNOTAVAIL", "listen"), 4, "127.0.0.1 is no address of this machine"],
  [system("EACCES", "mkdir"), 3, "the data folder /data may not be written"],
  [system("ENOTDIR", "mkdir"), 3, "the data folder /data is no folder"],
  [system("ENOENT", "mkdir"), 3, "the data folder /data cannot be made"],
  [system("ENAMETOOLONG", "mkdir"), 3, "the data folder /data cannot be made"],
  [system("ENOENT", "open"), 1, "ENOENT"],
  [system("ENOSPC", "write"), 3, "is on a disk that is full"],
  [new StorageError("a.sqlite is no store", { kind: "not-a-store" }), 3, "--no-demo"],
  [new PatternError("two of one name", { patternId: "a", version: "1" }), 2, "two of one name"],
  [new Error("odd"), 1, "odd"],
])("%s ends with its own exit code and words", (error, exitCode, words) => {
  const failure = explainStartupFailure(error, place);
  expect(failure.exitCode).toBe(exitCode);
  expect(failure.words).toContain(words);
});
