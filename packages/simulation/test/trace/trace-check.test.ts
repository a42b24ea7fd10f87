import type { AcceptedCommit } from "@tidemark/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { parseScenario } from "../../src/scenario/file.js";
import { ACCESS_CHANGES } from "../../src/simulator/access-changes.js";
import { makePlan, type PlanFile, runPlan } from "../../src/simulator/index.js";
import type { Observation, Seen } from "../../src/trace/observation.js";
import { TraceCheck } from "../../src/trace/trace-check.js";
import { Places } from "../../src/world/places.js";

/** Seeds whose worlds have races, crashes, a rival, resends, cascades and changes of access between them. */
const SEEDS = [25, 28, 22] as const;
const LONG_MS = 60_000;

interface Trace {
  readonly observed: readonly Observation[];
  readonly asks: ReadonlySet<string>;
}

const traces: Trace[] = [];

/** The streams of a plan's handlers that change the access list. */
function asking(plan: PlanFile): ReadonlySet<string> {
  const places = new Places(parseScenario(plan.id, plan), plan.seed);
  const pieces = places.spaceNames.flatMap((space) =>
    places.piecesOf(space).map(({ name }) => `${space}/${name}`),
  );
  const handlers = Object.keys(ACCESS_CHANGES);
  return new Set(
    pieces.flatMap((piece) => handlers.map((name) => places.stream(`${piece}/${name}`).id)),
  );
}

beforeAll(async () => {
  for (const seed of SEEDS) {
    const plan = makePlan(seed);
    const { observed, findings } = await runPlan(plan, { observe: true });
    expect(findings).toEqual([]);
    traces.push({ observed, asks: asking(plan) });
  }
}, LONG_MS);

/** What the model says of a trace. */
function departures({ observed, asks }: Trace): readonly string[] {
  const found: string[] = [];
  const check = new TraceCheck(
    () => false,
    (_space, text) => found.push(text),
    (_space, stream) => asks.has(stream),
  );
  for (const observation of observed) check.see(observation);
  return found;
}

/** The first departures there are, where one observation of a kind was changed or left out. */
function tampered<Kind extends Observation["kind"]>(
  kind: Kind,
  fits: (seen: Seen<Kind>) => boolean,
  change: (seen: Seen<Kind>) => readonly Observation[],
): readonly string[] {
  for (const { observed, asks } of traces) {
    const at = observed.findIndex((each) => each.kind === kind && fits(each as Seen<Kind>));
    if (at < 0) continue;
    const changed = change(observed[at] as Seen<Kind>);
    const other = [...observed.slice(0, at), ...changed, ...observed.slice(at + 1)];
    return departures({ observed: other, asks });
  }
  throw new Error(`no trace has such a ${kind}`);
}

const withCommit = (seen: Seen<"commit">, change: Partial<AcceptedCommit>): Observation => ({
  ...seen,
  commit: { ...seen.commit, ...change },
});
const ends = ({ commit }: Seen<"commit">): boolean =>
  commit.class === "derived" && commit.marks.some(({ duplicate }) => !duplicate);

const changesAccess = ({ commit }: Seen<"commit">): boolean => commit.capabilityRef !== undefined;

describe("traces of the running system", () => {
  test("[SI-V1] every observation is a step of the model", () => {
    for (const trace of traces) {
      expect(trace.observed.length).toBeGreaterThan(200);
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

  test("where a change of access lands twice for its event", () => {
    const found = tampered("commit", changesAccess, (seen) => [
      seen,
      withCommit(seen, { seq: (seen.commit.seq + 1) as never }),
    ]);
    expect(found[0]).toMatch(/changed the access list at \d+ already/u);
  });

  test("where a change of access lands for an event that its wave does not hold", () => {
    const found = tampered("commit", changesAccess, (seen) => [
      withCommit(seen, { capabilityRef: "event-consequence:nobody" as never }),
    ]);
    expect(found[0]).toMatch(/which its wave does not hold/u);
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
