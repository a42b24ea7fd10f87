import { EffectError } from "@tidemark/executor";
import {
  type DocOperation,
  isTidemarkError,
  type JsonValue,
  type Path,
  seq as toSeq,
  type TidemarkError,
} from "@tidemark/protocol";
import type { Step, StepOf, Verb } from "../scenario/steps.js";
import { gateError, loadError } from "../world/gate-errors.js";
import { outstanding } from "../world/inspect.js";
import type { World } from "../world/world.js";
import { StepFailure } from "./failure.js";
import { NotSupportedYetError } from "./not-supported.js";

/** Steps that do something; the others expect something. */
export type ActionVerb = Exclude<Verb, ExpectationVerb>;

/** Steps that expect something. */
export type ExpectationVerb =
  | "expect"
  | "see"
  | "overlay"
  | "queue"
  | "outcome"
  | "entry"
  | "runs"
  | "commits"
  | "watermark"
  | "stats"
  | "frames"
  | "attention"
  | "active"
  | "lease"
  | "outstanding"
  | "deliveries"
  | "outbox"
  | "intentLog"
  | "leak"
  | "channel"
  | "navigated"
  | "rows";

/** Whose clock it is where it is no process's. */
export const STORE = "store";

type Actions = { readonly [V in ActionVerb]: (world: World, step: StepOf<V>) => Promise<void> };

/** Does one step that acts. A refusal that the file expects is no failure; one that it does not is. */
export async function act(world: World, step: Step): Promise<void> {
  const action = ACTIONS[step.verb as ActionVerb] as (world: World, step: Step) => Promise<void>;
  const { refused } = step.beside;
  try {
    await action(world, step);
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    if (refused === undefined) throw new StepFailure(`refused: ${nameOf(error)}: ${error.message}`);
    if (!isExpectedRefusal(error, refused)) {
      throw new StepFailure("the refusal", refused, nameOf(error));
    }
    return;
  }
  if (refused !== undefined) throw new StepFailure("a refusal", refused, "acceptance");
}

const nameOf = (error: TidemarkError): string => error.name;

function isExpectedRefusal(
  error: TidemarkError,
  expected: true | string | { "~": string },
): boolean {
  if (expected === true) return true;
  if (typeof expected === "string") return nameOf(error) === expected;
  return new RegExp(expected["~"], "u").test(nameOf(error));
}

function notYet(what: string): () => Promise<never> {
  return () => Promise.reject(new NotSupportedYetError(what));
}

const ACTIONS: Actions = {
  fire: async (world, { value: [name, address, payload = null], beside }) => {
    const { space, id } = world.places.stream(address);
    const fired = world.client(name).fire(space, id, payload as JsonValue);
    const { eventId, stream } = fired;
    const event = {
      eventId,
      space,
      stream,
      payload: payload as JsonValue,
      fired,
      seq: undefined,
    };
    if (beside.as) world.events.set(`$${beside.as}`, event);
    await world.until(fired.echoed, "the echo");
  },

  refire: async (world, { value: [name, eventName] }) => {
    const { eventId, space, stream, payload } = world.event(eventName);
    const client = world.client(name);
    await world.until(client.append(space, stream, { eventId, payload }), "the append");
  },

  append: async (world, { value: [name, address, entry], beside }) => {
    const place = world.places.stream(address);
    const fields = entry as Readonly<Record<string, JsonValue>>;
    const named = world.places.entryFields(fields);
    const { seq } = await world.until(
      world.client(name).append(place.space, place.id, named),
      "the append",
    );
    const eventId = String(fields["eventId"]) as never;
    const payload = fields["payload"] ?? null;
    const event = { eventId, space: place.space, stream: place.id, payload, fired: undefined, seq };
    if (beside.as) world.events.set(`$${beside.as}`, event);
  },

  commit: async (world, { value: [name, space, raw], beside }) => {
    const client = world.client(name);
    const actor = { user: client.identity.did, session: client.sessionId };
    const reads = (raw.reads ?? []).map(([address, path, seq, kind]) => {
      const { id, scope } = world.places.place(address, actor);
      return { id, path: path as Path, seq: toSeq(world.seqOf(seq)), kind, ...scopeOf(scope) };
    });
    const ops = raw.ops.map(({ op, id: address, value }) => {
      const { id, scope } = world.places.place(address, actor);
      // A raw commit may be malformed on purpose; admission judges it.
      return {
        op,
        id,
        ...(value === undefined ? {} : { value }),
        ...scopeOf(scope),
      } as DocOperation;
    });
    const localSeq = raw.localSeq === undefined ? {} : { localSeq: raw.localSeq as never };
    const committed = await world.until(
      client.open(world.places.space(space)).raw.commit({ reads, ops, ...localSeq }),
      "the commit",
    );
    if (beside.as) world.commits.set(`$${beside.as}`, committed.seq);
  },

  write: async (world, { value: [name, address, value, path = []] }) => {
    const client = world.client(name);
    const place = world.places.place(address, {
      user: client.identity.did,
      session: client.sessionId,
    });
    const written = client.write(place, value as JsonValue, path as Path);
    await world.verdict(client, written, "the write");
  },

  patch: async (world, { value: [name, address, operations] }) => {
    const client = world.client(name);
    const place = world.places.place(address);
    const patched = client.patch(place, operations as never);
    await world.verdict(client, patched, "the patch");
  },

  create: async (world, { value: [name, space, piece, { pattern, argument = {} }] }) => {
    const client = world.client(name);
    world.places.addPiece(space, piece, pattern);
    const { created } = client.create(
      world.places.space(space),
      client.client.patterns.get(pattern, "1"),
      world.places.argument(argument as JsonValue, space),
      world.places.causeOf(space, piece),
      world.watchedOf(name),
    );
    world.pieceAppeared(space, piece);
    await world.verdict(client, created, "the creation");
  },

  swap: async (world, { value: [name, address, pattern] }) => {
    const client = world.client(name);
    const { space, id } = world.places.pieceAt(address);
    const swapped = client.swap(space, id, client.client.patterns.get(pattern, "1"));
    await world.verdict(client, swapped, "the swap");
    world.places.swapped(address, pattern);
  },

  acl: async (world, { value: [name, space, levels] }) => {
    const client = world.client(name);
    const set = client.open(world.places.space(space)).setAcl(world.places.acl(levels));
    await world.verdict(client, set, "the change of the access list");
  },

  settle: async (world, { value, beside: { within } }) => {
    const spaces = typeof value === "string" ? [value] : value;
    const settled = await world.reach(() => world.isSettled(spaces), within);
    if (!settled)
      throw new StepFailure(`${spaces.join(", ")} did not settle: ${world.whatIsLeft(spaces)}`);
  },

  idle: (world) => world.drain(),
  advance: (world, { value }) => world.advance(value),

  offline: async (world, { value }) => {
    world.client(value).setOnline(false);
    await world.drain();
  },
  online: async (world, { value }) => {
    world.client(value).setOnline(true);
    await world.drain();
  },
  reload: async (world, { value }) => {
    world.reload(value);
    await world.drain();
  },
  close: async (world, { value }) => {
    await world.until(world.client(value).logOut(), "logging out");
    await world.drain();
  },
  connect: async (world, { value }) => {
    for (const [name, file] of Object.entries(value)) world.connectClient(name, file);
    await world.drain();
  },

  crash: async (world, { value }) => {
    world.requireProcess(value);
    world.crash(value);
    await world.drain();
  },
  stop: (world, { value }) => world.stopProcess(value),
  start: (world, { value }) => world.startProcess(value),
  suspend: async (world, { value, beside: { ms = 0 } }) => {
    world.freeze(value);
    await world.advance(ms);
    await world.thaw(value);
  },
  freeze: async (world, { value }) => {
    world.freeze(value);
    await world.drain();
  },
  thaw: (world, { value }) => world.thaw(value),
  answer: async (world, { value, beside: { fails = false } }) => {
    world.outside.answer(world.places.place(value), fails);
    await world.drain();
  },
  intrude: async (world, { value: [space, trick, number] }) => {
    world.intruders.intrude(space, trick, number);
    await world.drain();
  },
  disk: async (world, { value, beside: { times = 1 } }) => {
    const [space] = value;
    if (value[1] === "sound") world.disks.mend(space);
    else if (value[1] === "slow") world.disks.slow(space, value[2]);
    else world.disks.fail(space, value[2], value[1], times);
  },
  steal: async (world, { value: [space, ttlMs] }) => {
    world.leases.steal(space, ttlMs);
    await world.drain();
  },
  clock: (world, { value: [name, ms] }) => {
    if (name === STORE) world.leases.stepClock(ms);
    else world.requireProcess(name).clock.setWallOffset(ms);
    return world.drain();
  },

  hold: async (world, { value, beside: { space, times } }) => {
    world.gates.hold(value, { ...world.gateSpace(space), times });
  },
  reached: async (world, { value, beside: { space, within } }) => {
    const id = world.gateSpace(space).space;
    const reached = await world.reach(() => world.gates.isReached(value, id), within);
    if (!reached) throw new StepFailure(`nobody reached ${value}`);
  },
  release: async (world, { value, beside: { space } }) => {
    if (!world.gates.release(value, world.gateSpace(space).space)) {
      throw new StepFailure(`nobody waits at ${value}, and it is not held`);
    }
  },
  fail: async (world, { value, beside }) => {
    const target = {
      ...world.gateSpace(beside.space),
      times: beside.times,
      event: beside.event ? world.event(beside.event).eventId : undefined,
    };
    world.gates.fail(value, target, () => gateError(beside.with ?? "io", beside.proven === true));
  },
  crashAt: async (world, { value, beside: { space } }) => {
    world.gates.crashAt(value, world.gateSpace(space));
  },
  let: async (world, { value }) => {
    world.let(value);
    await world.drain();
  },

  loads: async (world, { value: [address, what], beside: { proven = true } }) => {
    const { space, key } = world.places.place(address);
    if (what === "heal") {
      world.loads.heal(space, key);
    } else {
      // A class that nobody serves yet is told here, and not where the load would fail.
      loadError(what, proven);
      world.loads.fail(space, key, () => loadError(what, proven));
    }
    await world.drain();
  },

  respond: async (world, { value: [address, answer] }) => {
    const { space, key } = world.places.place(address);
    const [performer] = outstanding(world.processes, { space, key });
    if (performer === undefined) throw new StepFailure(`no request of ${address} is outstanding`);
    const failure = failureOf(answer);
    if (failure !== undefined) performer.fail(failure, key);
    else performer.answer(("body" in answer ? answer.body : undefined) ?? null, key);
    await world.drain();
  },

  compact: async (world, { value }) => {
    world.compact(value);
    await world.drain();
  },
  mark: async (world, { value }) => {
    await world.drain();
    world.marks.set(value, world.observer(value).head());
  },

  retry: notYet("step retry"),
  dismiss: notYet("step dismiss"),
  enact: notYet("step enact"),
  drain: notYet("step drain"),
  sweep: notYet("step sweep"),
  kick: notYet("step kick"),
  executor: notYet("step executor"),
  intents: notYet("step intents"),
};

/** How a server's performer of `fetchData` fails where the answer is as the file says. */
function failureOf(answer: StepOf<"respond">["value"][1]): EffectError | undefined {
  if ("fails" in answer) {
    return new EffectError(`the file fails it: ${answer.fails}`, { kind: answer.fails });
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  return new EffectError(`the host answered ${status}`, { kind: "provider", status });
}

function scopeOf(scope: "space" | "user" | "session"): { scope?: "user" | "session" } {
  return scope === "space" ? {} : { scope };
}
