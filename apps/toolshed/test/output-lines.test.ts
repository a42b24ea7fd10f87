import { expect, test } from "vitest";
import { OutputLines } from "../src/testing/output-lines.js";

test("a line is told once it is whole, whether it came before or after it was asked for", async () => {
  const output = new OutputLines();
  output.push("stdout", "rea");
  const waiting = output.waitFor(/^ready$/u);
  output.push("stderr", "noise\n");
  output.push("stdout", "dy\nmore");
  expect(await waiting).toBe("ready");
  expect(await output.waitFor(/noise/u)).toBe("noise");
  expect(output.lines).toEqual(["noise", "ready"]);
});

test("a process that ends fails whoever waits, with what it printed", async () => {
  const output = new OutputLines();
  output.push("stderr", "toolshed: port taken");
  const waiting = output.waitFor(/listening/u);
  output.end("the process ended with code 4");
  await expect(waiting).rejects.toThrow(/ended with code 4.*\n.*port taken/su);
  await expect(output.waitFor(/listening/u)).rejects.toThrow("code 4");
});
