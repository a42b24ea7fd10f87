import type { AcceptedCommit } from "@tidemark/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { makePlan, runPlan } from "../../src/simulator/index.js";
import type { Observation, Seen } from "../../src/trace/observation.js";
import { TraceCheck } from "../../src/trace/trace-check.js";

/** Seeds whose worlds have races, crashes, a rival, resends and cascades between them. */
const SEEDS = [1, 7, 14] as const;
const LONG_MS = 60_000;

const traces: (readonly Observation[])[] = [];

beforeAll(async () => {
  for (const seed of SEEDS) {
    const { observed, findings } = await runPlan(makePlan(seed), { observe: true });
    expect(findings).toEqual([]);
    traces.push(observed);
  }
}, LONG_MS);

/** What the model says of a trace. */
function departures(trace: readonly Observation[]): readonly string[] {
  const found: string[] = [];
  const check = new TraceCheck(
    () => false,
    (_space, text) => found.push(text),
  );
  for (const observation of trace) check.see(observation);
  return found;
}

/** The first departures there are, where one observation of a kind was changed or left out. */
function tampered<Kind extends Observation["kind"]>(
  kind: Kind,
  fits: (seen: Seen<Kind>) => boolean,
  change: (seen: Seen<Kind>) => readonly Observation[],
): readonly string[] {
  for (const trace of traces) {
    const at = trace.findIndex((each) => each.kind === kind && fits(each as Seen<Kind>));
    if (at < 0) continue;
    const changed = change(trace[at] as Seen<Kind>);
    return departures([...trace.slice(0, at), ...changed, ...trace.slice(at + 1)]);
  }
  throw new Error(`no trace has such a ${kind}`);
}

const withCommit = (seen: Seen<"commit">, change: Partial<AcceptedCommit>): Observation => ({
  ...seen,
  commit: { ...seen.commit, ...change },
});
const ends = ({ commit }: Seen<"commit">): boolean =>
  commit.class === "derived" && commit.marks.some(({ duplicate }) => !duplicate);

describe("traces of the running system", () => {
  test("[SI-V1] every observation is a step of the model", () => {
    for (const trace of traces) {
      expect(trace.length).toBeGreaterThan(200);
      expect(departures(trace)).toEqual([]);
    }
  });
});

describe("[SI-V2] a departure is found, and named", () => {
  test("where W goes further than was proved", () => {
    const found = tampered("commit", ends, (seen) => [
      withCommit(seen, { watermark: (seen.commit.seq + 3) as never }),
    ]);
    expect(found[0]).toMatch(/W went/u);
  });

  test("where a frontier passes its marked prefix", () => {
    const found = tampered(
      "commit",
      (seen) => ends(seen) && seen.commit.frontiers.length > 0,
      (seen) => [
        withCommit(seen, {
          frontiers: seen.commit.frontiers.map((each) => ({
            ...each,
            seq: (each.seq + 1) as never,
          })),
        }),
      ],
    );
    expect(found[0]).toMatch(/frontier/u);
  });

  test("where a mark has no effects", () => {
    const found = tampered("commit", ends, (seen) => [
      withCommit(seen, {
        changes: seen.commit.changes.filter(({ id }) => !id.startsWith("receipt:")),
      }),
    ]);
    expect(found[0]).toMatch(/without what it did/u);
  });

  test("where a commit names other events than it ends", () => {
    const found = tampered("commit", ends, (seen) => [withCommit(seen, { consequenceOf: [] })]);
    expect(found[0]).toMatch(/names \[\]/u);
  });

  test("where a commit is made twice", () => {
    const found = tampered("commit", ends, (seen) => [
      seen,
      withCommit(seen, { seq: (seen.commit.seq + 1) as never }),
    ]);
    expect(found[0]).toMatch(/never closed/u);
  });

  test("where a commit is missing", () => {
    expect(tampered("commit", ends, () => [])[0]).toMatch(/commits one wave already|follows/u);
  });

  test("where a wave commits under a row that was not acquired", () => {
    const found = tampered(
      "lease",
      ({ call, ok }) => call === "acquire" && ok,
      (seen) => [{ ...seen, ttl: 0 }],
    );
    expect(found.length).toBeGreaterThan(0);
  });

  test("where a live row is taken", () => {
    const found = tampered(
      "lease",
      ({ call, ok }) => call === "acquire" && !ok,
      (seen) => [{ ...seen, ok: true }],
    );
    expect(found[0]).toMatch(/holds live/u);
  });

  test("where an entry is taken up twice", () => {
    const found = tampered(
      "gate",
      ({ gate, met }) => gate === "drain:before-queue" && met === "pass",
      (seen) => [seen, seen],
    );
    expect(found[0]).toMatch(/has a copy under way/u);
  });

  test("where a handler runs that nobody queued", () => {
    const found = tampered(
      "gate",
      ({ gate, met }) => gate === "drain:before-queue" && met === "pass",
      () => [],
    );
    expect(found[0]).toMatch(/was not queued|taken up before/u);
  });

  test("where a handler that threw is marked as done", () => {
    const found = tampered(
      "body",
      ({ how }) => how === "ok",
      (seen) => [{ ...seen, how: "throws" }],
    );
    expect(found[0]).toMatch(/its handler threw|landed without/u);
  });

  test("where a dead process goes on", () => {
    const found = tampered(
      "process",
      ({ what }) => what === "dies",
      (seen) => [seen, { ...seen, what: "goes on" }],
    );
    expect(found[0]).toMatch(/does not stand still/u);
  });
});
