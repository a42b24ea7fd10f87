import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScenario } from "../../src/scenario/file.js";

const SCENARIOS = join(import.meta.dirname, "../../scenarios");

const good = {
  id: "X-1",
  title: "a scenario",
  patterns: { main: { cells: { n: { default: 0 } }, handlers: { inc: [["increment", "n", 1]] } } },
  spaces: { A: { pieces: { p: { pattern: "main" } } } },
  clients: { a1: { user: "alice", session: "s1" } },
  steps: [{ fire: ["a1", "A/p/inc"], as: "e1" }, { settle: "A" }, { expect: { "A/p/n": 1 } }],
};
const problem = (change: (file: typeof good) => unknown): string => {
  try {
    parseScenario("x.json", change(structuredClone(good)));
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing";
};

test("[SI-F1] every scenario file of the package is good in form", () => {
  const files = readdirSync(SCENARIOS, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".json"),
  );
  expect(files.length).toBeGreaterThan(150);
  for (const file of files) {
    const content: unknown = JSON.parse(readFileSync(join(SCENARIOS, file), "utf8"));
    expect(() => parseScenario(file, content), file).not.toThrow();
  }
});

test("[SI-F4] steps are typed by their verb and counted from one", () => {
  const { steps } = parseScenario("x.json", good);
  expect(steps.map(({ verb, number }) => [verb, number])).toEqual([
    ["fire", 1],
    ["settle", 2],
    ["expect", 3],
  ]);
  expect(steps[0]?.beside.as).toBe("e1");
});

test.each([
  ["an unknown step", { leap: "A" }, /step 1: unknown step leap/u],
  ["two verbs in one step", { settle: "A", idle: true }, /step 1: both "settle" and "idle"/u],
  ["a stray key", { settle: "A", soon: true }, /step 1: "soon" means nothing beside "settle"/u],
  ["a modifier of another verb", { settle: "A", as: "e" }, /"as" means nothing beside "settle"/u],
  ["an unknown gate", { hold: "wave:someday" }, /step 1 "hold"/u],
  ["a bad address", { expect: { "A/p": 1 } }, /step 1 "expect"/u],
  ["an unknown comparator", { runs: { $e1: { "~=": 1 } } }, /step 1 "runs"/u],
  ["an unknown failure", { fail: "seal:before", with: "gremlins" }, /step 1/u],
  ["an unknown failure of a request", { respond: ["A/p/n", { fails: "gremlins" }] }, /step 1/u],
])("[SI-F2] %s names the file, the step and the key", (_name, step, words) => {
  const message = problem((file) => ({ ...file, steps: [step] }));
  expect(message).toMatch(words);
  expect(message.startsWith("x.json: ")).toBe(true);
});

test.each([
  ["an unknown key of the file", (f: typeof good) => ({ ...f, extra: 1 }), /extra/u],
  ["an unknown policy", (f: typeof good) => ({ ...f, policy: { speed: 9 } }), /policy/u],
  [
    "an unknown pattern",
    (f: typeof good) => ({ ...f, spaces: { A: { pieces: { p: { pattern: "q" } } } } }),
    /no pattern "q"/u,
  ],
  [
    "an unknown expression",
    (f: typeof good) => ({ ...f, patterns: { main: { computed: { c: ["teleport"] } } } }),
    /unknown head "teleport"/u,
  ],
  [
    "an unknown operation",
    (f: typeof good) => ({ ...f, patterns: { main: { handlers: { h: [["explode", "n"]] } } } }),
    /unknown head "explode"/u,
  ],
  [
    "a wrong number of arguments",
    (f: typeof good) => ({ ...f, patterns: { main: { computed: { c: ["eq", 1] } } } }),
    /"eq" takes 2 arguments, not 1/u,
  ],
  [
    "a grant of no level",
    (f: typeof good) => ({
      ...f,
      patterns: { main: { handlers: { h: [["grant", "ben", "APPEND"]] } } },
    }),
    /"grant" takes a user and one of READ, WRITE, OWNER/u,
  ],
  [
    "an operation deep in a branch",
    (f: typeof good) => ({
      ...f,
      patterns: { main: { handlers: { h: [["if", true, [["nope"]]]] } } },
    }),
    /unknown head "nope"/u,
  ],
  [
    "an expression deep in another",
    (f: typeof good) => ({
      ...f,
      patterns: { main: { computed: { c: ["+", 1, ["*", 2, ["nope"]]] } } },
    }),
    /unknown head "nope"/u,
  ],
  ["a step that is no object", (f: typeof good) => ({ ...f, steps: ["idle"] }), /steps\.0/u],
])("[SI-F3] %s makes the file bad", (_name, change, words) => {
  expect(problem(change)).toMatch(words);
});
