import type { ProgramHost } from "../../src/cli/run.js";
import { OutputLines } from "../../src/testing/index.js";

/** A process around the program that is none: its output is kept, its end is only noted. */
export function program(argv: readonly string[], env: ProgramHost["env"] = {}) {
  const output = new OutputLines();
  const exits: number[] = [];
  let stop: (signal: string, at: number) => void = () => undefined;
  const host: ProgramHost = {
    argv,
    env,
    stdout: { write: (text) => output.push("stdout", text) },
    stderr: { write: (text) => output.push("stderr", text) },
    shellDir: undefined,
    version: "1.2.3",
    onStop: (fn) => {
      stop = fn;
    },
    exit: (code) => void exits.push(code),
  };
  return { host, output, exits, signal: (name: string, at = 0) => stop(name, at) };
}
