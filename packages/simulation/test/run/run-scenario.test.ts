import { expect, test } from "vitest";
import { runScenario } from "../../src/run/run-scenario.js";
import { parseScenario } from "../../src/scenario/file.js";

const COUNTER = {
  cells: { n: { default: 0 }, luck: {} },
  computed: { double: ["*", 2, ["get", "n"]] },
  handlers: {
    inc: [["increment", "n", ["payload"]]],
    roll: [["set", "luck", ["random"]]],
    boom: [["throw", "no"]],
  },
};

type Steps = readonly Readonly<Record<string, unknown>>[];

function scenarioOf(steps: Steps, more: object = {}) {
  return parseScenario("x.json", {
    id: "X-1",
    title: "a counter",
    patterns: { main: COUNTER },
    spaces: { A: { pieces: { p: { pattern: "main" } } } },
    clients: { a1: { user: "alice", session: "s1" } },
    ...more,
    steps,
  });
}

function run(steps: Steps, transport: "loopback" | "ws" = "loopback", more: object = {}) {
  return runScenario(scenarioOf(steps, more), { transport });
}

const CLICK: Steps = [{ fire: ["a1", "A/p/inc", 3], as: "e1" }, { settle: "A" }];

test("[SI-R1] a scenario ends at its first failure, which names step, verb, expected and actual", async () => {
  const passed = await run([...CLICK, { expect: { "A/p/n": 3 } }]);
  expect([passed.passed, passed.failure]).toEqual([true, undefined]);
  const failed = await run([...CLICK, { expect: { "A/p/n": 4 } }, { expect: { "A/p/n": 5 } }]);
  expect(failed.passed).toBe(false);
  expect(failed.failure).toBe("step 3 (expect): A/p/n: expected 4, there was 3");
});

test.each([
  ["a step", [{ enact: "a1" }], "step 1 (enact): not supported yet"],
  ["an expectation", [{ outbox: { A: [] } }], "step 1 (outbox): not supported yet"],
])("[SI-R2] %s of a part that is not served fails and says so", async (_name, steps, words) => {
  const { passed, failure } = await run(steps);
  expect(passed).toBe(false);
  expect(failure).toContain(words);
});

test("[SI-R3] a refusal that is expected and does not come fails, and so does one that is not expected", async () => {
  const forged = { append: ["a1", "A/p/inc", { eventId: "e9", payload: 1, seq: 4 }] };
  expect((await run([{ ...forged, refused: "ProtocolError" }])).passed).toBe(true);
  expect((await run([{ ...forged, refused: true }])).passed).toBe(true);
  expect((await run([forged])).failure).toContain("refused: ProtocolError");
  expect((await run([{ ...forged, refused: "ConflictError" }])).failure).toContain("the refusal");
  const welcome = { write: ["a1", "A/p/n", 4], refused: true };
  expect((await run([welcome])).failure).toContain("a refusal: expected true");
});

test.each([
  ["expect", { "A/p/n": 3 }, { "A/p/n": 4 }],
  ["see", { a1: { "A/p/double": 6 } }, { a1: { "A/p/double": 7 } }],
  ["overlay", { a1: 0 }, { a1: 1 }],
  ["queue", { a1: 0 }, { a1: 1 }],
  ["outcome", { $e1: "consequenced" }, { $e1: "errored" }],
  ["entry", { $e1: { consequenced: true } }, { $e1: { status: "errored" } }],
  ["runs", { $e1: 1 }, { $e1: 2 }],
  ["commits", { A: { "naming:$e1": 1 } }, { A: { "naming:$e1": 0 } }],
  ["watermark", { A: { lag: 0 } }, { A: { lag: { ">": 0 } } }],
  ["stats", { A: { "events.processed": 1 } }, { A: { "events.processed": 2 } }],
  ["frames", { a1: { holds: ["A/p/double"] } }, { a1: { holds: ["A/p/double"], never: true } }],
  ["active", { A: true }, { A: false }],
  ["lease", { A: "server" }, { A: null }],
  ["leak", { A: { max: 50 } }, { A: { max: -1 } }],
  ["rows", { A: { stream_entry: 1 } }, { A: { stream_entry: 2 } }],
])("[SI-R4] %s passes with the true value and fails with another", async (verb, right, wrong) => {
  expect((await run([...CLICK, { [verb]: right }])).failure).toBe(undefined);
  expect((await run([...CLICK, { [verb]: wrong }])).failure).toContain(`step 3 (${verb})`);
});

const FETCHING = {
  patterns: {
    main: {
      cells: { n: { default: 1 } },
      effects: {
        page: { fetch: { url: ["concat", "https://x.test/", ["get", "n"]] } },
        none: { fetch: { url: null } },
      },
      handlers: {},
    },
  },
};
const ASKED: Steps = [{ settle: "A" }];

test("[SI-R4] outstanding passes with the true value and fails with another", async () => {
  const ends = async (expected: object) =>
    (await run([...ASKED, { outstanding: expected }], "loopback", FETCHING)).failure;
  expect(await ends({ "A/p/page": 1, "A/p/none": 0 })).toBe(undefined);
  expect(await ends({ "A/p/page": 0 })).toContain("step 2 (outstanding)");
});

test("[SI-R8] a request waits for the file's answer, and goes with the process that made it", async () => {
  const answer = (given: object): Steps => [...ASKED, { respond: ["A/p/page", given] }];
  const shown = async (given: object, value: object) =>
    (
      await run(
        [...answer(given), { settle: "A" }, { expect: { "A/p/page": value } }],
        "loopback",
        FETCHING,
      )
    ).failure;
  const requestHash = { "~": "." };
  const body = { pending: false, result: [1], requestHash };
  expect(await shown({ status: 200, body: [1] }, body)).toBe(undefined);
  const empty = { pending: false, result: null, requestHash };
  expect(await shown({ status: 204 }, empty)).toBe(undefined);
  const failed = (kind: string, message: string, more = {}) => ({
    pending: false,
    error: { kind, message, ...more },
    requestHash,
  });
  const missing = failed("provider", "the host answered 404", { status: 404 });
  expect(await shown({ status: 404 }, missing)).toBe(undefined);
  const cut = failed("network", "the file fails it: network");
  expect(await shown({ fails: "network" }, cut)).toBe(undefined);

  const none = await run([{ respond: ["A/p/none", { status: 200 }] }], "loopback", FETCHING);
  expect(none.failure).toContain("no request of A/p/none is outstanding");
  const dead = [...ASKED, { crash: "server" }, { outstanding: { "A/p/page": 0 } }];
  expect((await run(dead, "loopback", FETCHING)).failure).toBe(undefined);
});

test("[SI-R8] settle waits for answers that have been given, and not for others", async () => {
  const held: Steps = [
    ...ASKED,
    { hold: "effect:before-completion", space: "A" },
    { respond: ["A/p/page", { status: 200, body: 1 }] },
    { settle: "A" },
  ];
  const { failure } = await run(held, "loopback", FETCHING);
  expect(failure).toContain("1 answers of effects have not landed in A");
});

test("[SI-R5] the same file and seed make the same run, and another seed another one", async () => {
  const steps: Steps = [
    { fire: ["a1", "A/p/roll"] },
    { settle: "A" },
    { expect: { "A/p/luck": -1 } },
  ];
  const once = await run(steps);
  expect(once.failure).toContain("there was 0.");
  expect(await run(steps)).toEqual(once);
  const other = await runScenario(scenarioOf(steps), { transport: "loopback", seed: 99 });
  expect(other.failure).not.toBe(once.failure);
});

test("[SI-R6] what is not durable is not there, though its client shows it", async () => {
  const held: Steps = [
    { settle: "A" },
    { hold: "wave:before-commit", space: "A" },
    { fire: ["a1", "A/p/inc", 3], as: "e1" },
    { reached: "wave:before-commit" },
    { expect: { "A/p/n": null } },
    { see: { a1: { "A/p/n": 3 } } },
    { release: "wave:before-commit" },
    { settle: "A" },
    { expect: { "A/p/n": 3 } },
  ];
  expect((await run(held)).failure).toBe(undefined);
});

test("[SI-R7] a file passes over sockets as over the loopback", async () => {
  const steps: Steps = [...CLICK, { see: { a1: { "A/p/double": 6 } } }, { overlay: { a1: 0 } }];
  const results = [await run(steps, "loopback"), await run(steps, "ws")];
  expect(results.map(({ failure }) => failure)).toEqual([undefined, undefined]);
});
