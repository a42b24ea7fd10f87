import { type InstanceKey, type JsonValue, parseInstanceKey } from "@tidemark/protocol";
import type { Step, StepOf } from "../scenario/steps.js";
import type { World } from "../world/world.js";
import { outstanding } from "../world/inspect.js";
import { BEFORE_ALL } from "../world/observer.js";
import { StepFailure } from "./failure.js";
import { matches } from "./match.js";
import { NotSupportedYetError } from "./not-supported.js";
import type { ExpectationVerb } from "./steps.js";

type Expectations = { readonly [V in ExpectationVerb]: (world: World, step: StepOf<V>) => void };

/** Checks one step that expects something. @throws StepFailure where it does not hold */
export function expectStep(world: World, step: Step): void {
  const check = EXPECTATIONS[step.verb as ExpectationVerb] as (world: World, step: Step) => void;
  check(world, step);
}

/** Whether a step is one that expects. */
export function isExpectation(step: Step): boolean {
  return Object.hasOwn(EXPECTATIONS, step.verb);
}

function require(world: World, what: string, actual: unknown, expected: unknown): void {
  if (!matches(actual, expected, (name) => world.events.get(name)?.eventId)) {
    throw new StepFailure(what, expected, actual);
  }
}

function requirePartly(world: World, what: string, actual: unknown, expected: unknown): void {
  if (!matches(actual, expected, (name) => world.events.get(name)?.eventId, "partial")) {
    throw new StepFailure(what, expected, actual);
  }
}

function notYet(what: string): () => never {
  return () => {
    throw new NotSupportedYetError(what);
  };
}

const EXPECTATIONS: Expectations = {
  expect: (world, { value }) => {
    for (const [address, expected] of Object.entries(value)) {
      const { spaceName, id, scopeKey } = world.places.place(address);
      require(world, address, world.observer(spaceName).read(id, scopeKey).value, expected);
    }
  },

  see: (world, { value }) => {
    for (const [name, nodes] of Object.entries(value)) {
      for (const [address, expected] of Object.entries(nodes)) {
        const { value: shown, pending } = world.client(name).see(world.places.place(address));
        const actual = pending ? "pending" : shown;
        require(world, `${name} sees ${address}`, actual, expected);
      }
    }
  },

  overlay: (world, { value }) => {
    for (const [name, expected] of Object.entries(value)) {
      require(world, `overlay of ${name}`, world.client(name).client.speculative, expected);
    }
  },

  queue: (world, { value }) => {
    for (const [name, expected] of Object.entries(value)) {
      require(world, `queue of ${name}`, world.client(name).client.queuedEvents, expected);
    }
  },

  outcome: (world, { value }) => {
    for (const [name, expected] of Object.entries(value)) {
      const { fired } = world.event(name);
      if (!fired) throw new StepFailure(`${name} was appended raw: nobody waits for its outcome`);
      require(world, `outcome of ${name}`, fired.outcome?.kind ?? "pending", expected);
    }
  },

  entry: (world, { value }) => {
    for (const [name, expected] of Object.entries(value)) {
      const { space, stream, eventId } = world.event(name);
      const [entry] = world.observerOf(space).entries(stream, eventId);
      requirePartly(world, `entry of ${name}`, entry ?? null, expected);
    }
  },

  runs: (world, { value }) => {
    for (const [name, expected] of Object.entries(value)) {
      require(world, `runs of ${name}`, world.completedRuns(name), expected);
    }
  },

  commits: (world, { value }) => {
    for (const [space, counts] of Object.entries(value)) {
      const since = world.marks.get(space) ?? BEFORE_ALL;
      const commits = world.observer(space).commitsSince(since);
      for (const [what, expected] of Object.entries(counts)) {
        const count = what.startsWith("naming:")
          ? commits.filter((commit) =>
              commit.consequenceOf?.includes(world.event(what.slice("naming:".length)).eventId),
            ).length
          : commits.filter((commit) => commit.class === what).length;
        require(world, `commits of ${space}: ${what}`, count, expected);
      }
    }
  },

  watermark: (world, { value }) => {
    for (const [space, expected] of Object.entries(value)) {
      const { watermark, input } = world.coverage(space);
      if ("lag" in expected) {
        require(world, `lag of ${space}`, Math.max(0, input - watermark), expected.lag);
        continue;
      }
      const seq = world.seqOf(expected.covers);
      require(world, `W of ${space} covers ${expected.covers}`, watermark >= seq, true);
    }
  },

  stats: (world, { value }) => {
    for (const [space, counters] of Object.entries(value)) {
      for (const [counter, expected] of Object.entries(counters)) {
        require(world, `${counter} of ${space}`, world.counter(space, counter), expected);
      }
    }
  },

  frames: (world, { value }) => {
    for (const [name, { holds, never = false }] of Object.entries(value)) {
      for (const address of holds) {
        const { space, key } = world.places.place(address);
        const how = never ? "mentioned" : "carried";
        const received = world.client(name).received(space, key, how);
        require(world, `${name} was sent ${address} (${describeKey(key)})`, received, !never);
      }
    }
  },

  active: (world, { value }) => {
    for (const [space, expected] of Object.entries(value)) {
      require(world, `${space} is served`, world.isActive(space), expected);
    }
  },

  lease: (world, { value }) => {
    for (const [space, expected] of Object.entries(value)) {
      require(world, `lease of ${space}`, world.leases.holderOf(space) ?? null, expected);
    }
  },

  outstanding: (world, { value }) => {
    for (const [address, expected] of Object.entries(value)) {
      const { length } = outstanding(world.processes, world.places.place(address));
      require(world, `requests of ${address}`, length, expected);
    }
  },

  leak: (world, { value }) => {
    for (const [space, { max }] of Object.entries(value)) {
      require(world, `held of ${space}`, world.held(space), { "<=": max });
    }
  },

  rows: (world, { value }) => {
    for (const [space, tables] of Object.entries(value)) {
      for (const [table, expected] of Object.entries(tables)) {
        require(world, `rows of ${table}`, world.observer(space).countRows(table), expected);
      }
    }
  },

  attention: notYet("expectation attention"),
  deliveries: notYet("expectation deliveries"),
  outbox: notYet("expectation outbox"),
  intentLog: notYet("expectation intentLog"),
  channel: notYet("expectation channel"),
  navigated: notYet("expectation navigated"),
};

function describeKey(key: InstanceKey): JsonValue {
  return parseInstanceKey(key).scopeKey;
}
