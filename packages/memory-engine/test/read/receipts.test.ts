import {
  docKind,
  type ActionId,
  type BranchName,
  type CommitClass,
  type DocId,
  type ValueOperation,
} from "@tidemark/protocol";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openBetterSqlite3, openEngine, type Engine, type EngineTx } from "../../src/index.js";
import { A1, ANA, at, doc, HOLDER, S, SPACE } from "../../src/testing/harness.js";
import { seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";

/** One is written as receipts are, the other as any document: whatever is asked, they answer alike. */
const RECEIPT = doc("receipt:x");
const PLAIN = doc("node:x");
const DRAFT = "draft" as BranchName;
const VIEW = "counter/view@piece:p" as ActionId;

type Step =
  | {
      readonly kind: "write";
      readonly ops: readonly ValueOperation[];
      readonly class: CommitClass;
      readonly onDraft: boolean;
      readonly attributed: boolean;
    }
  | { readonly kind: "branch" }
  | { readonly kind: "read" }
  | { readonly kind: "prune" };

const operation: fc.Arbitrary<ValueOperation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ op: fc.constant("set" as const), value: fc.record({ n: fc.nat(9) }) }),
  },
  { weight: 1, arbitrary: fc.constant<ValueOperation>({ op: "delete" }) },
  {
    weight: 2,
    arbitrary: fc.constant<ValueOperation>({
      op: "patch",
      value: [{ op: "increment", path: ["n"], value: 1, ifAbsent: { n: 0 } }],
    }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      ops: fc.oneof(
        { weight: 4, arbitrary: fc.array(operation, { minLength: 1, maxLength: 1 }) },
        { weight: 1, arbitrary: fc.array(operation, { minLength: 2, maxLength: 3 }) },
      ),
      class: fc.constantFrom<CommitClass>("derived", "derived", "authored"),
      onDraft: fc.boolean(),
      attributed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "branch" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "read" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "prune" }) },
);

function take(engine: Engine, one: Step): void {
  const branched = engine.branches.list().length > 1;
  switch (one.kind) {
    case "branch":
      if (!branched) engine.branches.create(DRAFT);
      return;
    case "prune":
      engine.prune({ pruneAfterMs: 0, pruneAfterCommits: 2 });
      return;
    case "read":
      recordReads(engine);
      return;
    case "write":
      engine.transact(
        (tx) => write(tx, one),
        one.onDraft && branched ? { branch: DRAFT } : undefined,
      );
  }
}

function write(tx: EngineTx, one: Extract<Step, { readonly kind: "write" }>): void {
  const attribution = one.attributed ? { attribution: { user: ANA, session: A1 } } : {};
  for (const op of one.ops) {
    // An own neighbour each, so that neither stands at a place that the other may not have.
    for (const id of [RECEIPT, PLAIN]) tx.write({ id, scopeKey: S, op, ...attribution });
  }
  tx.commit(one.class === "derived" ? { class: "derived", holder: HOLDER } : { class: "authored" });
}

function recordReads(engine: Engine): void {
  engine.transact((tx) => {
    for (const id of [RECEIPT, PLAIN]) {
      const reads = [{ space: SPACE, id, scopeKey: S, seq: tx.head(id, S) }];
      tx.basis({ action: `${VIEW}${id}` as ActionId, scopeKey: S, reads });
    }
    tx.keepBasis();
  });
}

/** Everything that can be asked of one of the two, without its id and its place in a commit. */
function told(engine: Engine, id: DocId): unknown {
  const branches = engine.branches.list().map(({ name }) => name);
  const seqs = Array.from({ length: engine.head() + 1 }, (_, seq) => at(seq));
  const readable = seqs.filter((seq) => seq >= engine.horizon());
  const listed = [...engine.listByPrefix("", S), ...engine.listByPrefix(`${docKind(id)}:`, S)];
  return {
    now: branches.map((branch) => engine.read(id, S, { branch })),
    past: branches.map((branch) => readable.map((seq) => engine.read(id, S, { branch, at: seq }))),
    history: branches.map((branch) =>
      readable.map((after) =>
        engine.history(id, S, { branch, after }).map(({ opIndex: _opIndex, ...rest }) => rest),
      ),
    ),
    first: engine.history(id, S, { limit: 1 }).map(({ op }) => op),
    listed: listed.filter((one) => one.id === id).map(({ seq }) => seq),
    fed: engine
      .commitsSince(engine.horizon())
      .map(({ changes }) => changes.filter((one) => one.id === id).map(({ op }) => op)),
    stale: engine.basis.stale().some(({ action }) => action === `${VIEW}${id}`),
    inside: engine.transact((tx) => [
      tx.head(id, S),
      tx.read(id, S),
      tx.failedPrecondition([{ kind: "create-only", id, scopeKey: S }]),
    ]),
  };
}

test("[ME-R15] whatever is asked of a receipt, now, then, on a branch, in lists and feeds, it answers as any document", () => {
  let rows = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const driver = openBetterSqlite3({ path: ":memory:" });
      const clock = new VirtualClock();
      const engine = openEngine({
        driver,
        space: SPACE,
        storeClock: clock,
        random: seededRandom(7),
      });
      try {
        for (const one of steps) {
          take(engine, one);
          expect(told(engine, RECEIPT)).toEqual(told(engine, PLAIN));
        }
        const held = driver.prepare("SELECT count(*) AS n FROM receipt").get();
        rows += (held as { readonly n: number }).n;
      } finally {
        engine.close();
      }
    }),
    { numRuns: Number(process.env["FUZZ_RUNS"] ?? 60) },
  );
  expect(rows).toBeGreaterThan(0);
}, 120_000);
