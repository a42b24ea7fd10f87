import { seededRandom } from "@tidemark/protocol";
import { VirtualClock } from "@tidemark/protocol/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../../src/options.js";
import { Outbox } from "../../src/queue/outbox.js";
import type { SendOutcome } from "../../src/queue/outbox.js";

interface Send {
  readonly body: string;
  readonly localSeq: number;
  answer(outcome: SendOutcome): Promise<void>;
}

const SETTLED: SendOutcome = { kind: "settled" };

function setup(pacing = DEFAULT_POLICY.appendPacing): {
  clock: VirtualClock;
  outbox: Outbox<string>;
  sends: Send[];
  add: (...bodies: string[]) => void;
  sent: () => string[];
} {
  const clock = new VirtualClock();
  const sends: Send[] = [];
  let next = 1;
  const outbox = new Outbox<string>({
    clock,
    random: seededRandom(1),
    pacing,
    backoff: DEFAULT_POLICY.backoff,
    lane: (body) => ({ name: body[0] ?? "", paced: !body.startsWith("w") }),
    send: ({ body, localSeq }) =>
      new Promise((resolve) => {
        const answer = async (outcome: SendOutcome): Promise<void> => {
          resolve(outcome);
          await clock.drain();
        };
        sends.push({ body, localSeq, answer });
      }),
  });
  const add = (...bodies: string[]): void => {
    for (const body of bodies) {
      outbox.add({ localSeq: next, body });
      next += 1;
    }
  };
  return { clock, outbox, sends, add, sent: () => sends.map(({ body }) => body) };
}

/** Answers every send as it comes, until none comes any more. */
async function answerAll(sends: readonly Send[], from = 0): Promise<void> {
  for (let n = from; n < sends.length; n += 1) await sends[n]?.answer(SETTLED);
}

test("[CL-Q1] what is queued offline goes on connection in the order it was done, lane by lane", async () => {
  const { outbox, sends, add, sent } = setup();
  add("x1", "y1", "w1", "x2");
  expect([outbox.size, sends.length]).toEqual([4, 0]);
  outbox.online();
  expect(sent()).toEqual(["x1", "y1", "w1", "x2"]);
  await answerAll(sends);
  expect([sent().length, outbox.size]).toEqual([4, 0]);
});

test("[CL-Q2] what was sent and not answered is sent again under its number, before anything later", async () => {
  const { outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1", "x2", "x3");
  await sends[0]?.answer(SETTLED);
  expect(sent()).toEqual(["x1", "x2", "x3"]);
  outbox.offline();
  outbox.online();
  add("x4");
  expect(sent().slice(3)).toEqual(["x2", "x3", "x4"]);
  expect(sends[3]?.localSeq).toBe(sends[1]?.localSeq);
  // The answer of the old connection's send comes late, as "unknown": it takes nothing back.
  await sends[1]?.answer({ kind: "ambiguous" });
  await answerAll(sends, 3);
  expect([sent().length, outbox.size]).toEqual([6, 0]);
});

test("[CL-Q3] lanes do not hold each other: a refusal or pacing of one leaves the others going", async () => {
  const { outbox, sends, add, sent } = setup({ burst: 1, ratePerSecond: 1 });
  outbox.online();
  add("x1", "x2", "y1");
  expect(sent()).toEqual(["x1", "y1"]);
  await sends[0]?.answer({ kind: "later", retry: "session" });
  await sends[1]?.answer(SETTLED);
  add("z1", "w1");
  expect(sent()).toEqual(["x1", "y1", "z1", "w1"]);
});

test("[CL-Q4] a flood goes as a burst and then at its rate; nothing is dropped or merged", async () => {
  const { clock, outbox, sends, add, sent } = setup();
  outbox.online();
  add(...Array.from({ length: 60 }, (_, n) => `x${n}`), "y");
  await answerAll(sends);
  expect(sent().filter((body) => body !== "y")).toHaveLength(20);
  expect(sent()).toContain("y");
  expect(outbox.size).toBe(40);
  for (let n = 0; n < 40; n += 1) {
    await clock.advance(50);
    await answerAll(sends, sends.length - 1);
  }
  expect(sent().filter((body) => body !== "y")).toEqual(
    Array.from({ length: 60 }, (_, n) => `x${n}`),
  );
  expect([outbox.size, clock.pendingTimers()]).toEqual([0, 0]);
});

const TIMER: SendOutcome = { kind: "later", retry: "timer" };
const TURN: SendOutcome = { kind: "later", retry: "turn" };

test("[CL-Q5] a refusal for now holds its lane, and later items go after it, never before", async () => {
  const { clock, outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1");
  await sends[0]?.answer(TIMER);
  add("x2", "x3");
  expect(sent()).toEqual(["x1"]);
  await clock.advance(250);
  expect(sent()).toEqual(["x1", "x1"]);
  await answerAll(sends, 1);
  expect(sent()).toEqual(["x1", "x1", "x2", "x3"]);
});

test("[CL-Q5] of pipelined items, those refused after an earlier refusal come again behind it", async () => {
  const { clock, outbox, sends, add, sent } = setup();
  outbox.online();
  add("x0", "x1", "x2");
  expect(sent()).toEqual(["x0", "x1", "x2"]);
  await sends[0]?.answer(SETTLED);
  await sends[1]?.answer(TIMER);
  await sends[2]?.answer(TURN);
  await clock.advance(250);
  await answerAll(sends, 3);
  expect([sent(), outbox.size]).toEqual([["x0", "x1", "x2", "x1", "x2"], 0]);
});

test("[CL-Q13] what is refused out of turn starts no timer and lengthens no delay", async () => {
  /** When the head goes again after its n-th refusal, alone or with others refused behind it. */
  const delays = async (behind: readonly string[]): Promise<number[]> => {
    const { clock, outbox, sends, add } = setup();
    outbox.online();
    add("x1", ...behind);
    const seen: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const [head, ...others] = sends.slice(round === 0 ? 0 : -1);
      await head?.answer(TIMER);
      const before = clock.monotonic();
      await clock.advanceToNextTimer();
      seen.push(clock.monotonic() - before);
      // Late, so that nothing is planned any more that a second failure could hide behind.
      for (const send of others) await send.answer(TURN);
      expect(clock.pendingTimers()).toBe(0);
    }
    await answerAll(sends, sends.length - 1);
    expect(outbox.size).toBe(0);
    return seen;
  };
  const alone = await delays([]);
  expect(await delays(["x2", "x3", "x4"])).toEqual(alone);
  expect(alone[3]).toBeGreaterThan(alone[0] ?? Infinity);
});

test("[CL-Q13] a refusal out of turn that comes after the head may go again does not stop the lane", async () => {
  const { outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1", "x2", "x3");
  await sends[0]?.answer({ kind: "later", retry: "session" });
  // Access changed: the head waits for what is still under way, whose refusals are on their way.
  outbox.retry();
  expect(sent()).toEqual(["x1", "x2", "x3"]);
  await sends[1]?.answer(TURN);
  await sends[2]?.answer(TURN);
  expect(sent().slice(3)).toEqual(["x1"]);
  await answerAll(sends, 3);
  expect([sent().slice(3), outbox.size]).toEqual([["x1", "x2", "x3"], 0]);
});

test("[CL-Q13] one that is out of turn behind nothing of this queue is tried again after a while", async () => {
  const { clock, outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1", "x2");
  await sends[0]?.answer(TURN);
  await sends[1]?.answer(TURN);
  expect([sent(), clock.pendingTimers()]).toEqual([["x1", "x2"], 1]);
  await clock.advance(250);
  await answerAll(sends, 2);
  expect([sent().slice(2), outbox.size]).toEqual([["x1", "x2"], 0]);
});

test("[CL-Q14] a stream that is turned away asks with one append, over reconnects too; others have 256 under way", async () => {
  const { clock, outbox, sends, add, sent } = setup({ burst: 1000, ratePerSecond: 1000 });
  outbox.online();
  add(...Array.from({ length: 300 }, (_, n) => `x${n}`));
  expect(sends).toHaveLength(256);
  await sends[0]?.answer(TIMER);
  for (const send of sends.slice(1)) await send.answer(TURN);
  await clock.advance(250);
  expect(sent().slice(256)).toEqual(["x0"]);
  await sends[256]?.answer(TIMER);
  outbox.offline();
  outbox.online();
  expect(sent().slice(257)).toEqual(["x0"]);
  await sends[257]?.answer(SETTLED);
  expect(sends).toHaveLength(258 + 256);
  await answerAll(sends, 258);
  expect([sent().slice(-1), outbox.size]).toEqual([["x299"], 0]);
});

test("[CL-Q6] a refusal that waits for the session is tried again on reconnect or a change of level, not on a timer", async () => {
  const { clock, outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1");
  await sends[0]?.answer({ kind: "later", retry: "session" });
  await clock.advance(600_000);
  expect(sent()).toEqual(["x1"]);
  outbox.retry();
  await sends[1]?.answer({ kind: "later", retry: "session" });
  outbox.offline();
  outbox.online();
  await answerAll(sends, 2);
  expect([sent(), outbox.size]).toEqual([["x1", "x1", "x1"], 0]);
});

test("[CL-Q6] a space that is opened again on its connection tries refusals anew and sends nothing twice", async () => {
  const { outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1", "y1");
  await sends[0]?.answer({ kind: "later", retry: "session" });
  outbox.online();
  expect(sent()).toEqual(["x1", "y1", "x1"]);
  await answerAll(sends, 1);
  expect(outbox.size).toBe(0);
});

test("[CL-Q7] an item that lands as the queue empties goes without any further push", async () => {
  const { outbox, sends, add, sent } = setup();
  outbox.online();
  add("x1");
  const idle = outbox.idle().then(() => add("x2"));
  await answerAll(sends);
  await idle;
  await answerAll(sends, 1);
  expect([sent(), outbox.size]).toEqual([["x1", "x2"], 0]);
});

test("[CL-Q8] a session that ends hands back what was not acknowledged, in order", async () => {
  const { outbox, sends, add } = setup();
  outbox.online();
  add("x1", "y1", "x2");
  await sends[1]?.answer(SETTLED);
  expect(outbox.drain().map(({ body }) => body)).toEqual(["x1", "x2"]);
  expect(outbox.size).toBe(0);
});

/** A server's half of one stream after another: it admits in order, and once each. */
class ModelServer {
  readonly accepted: number[] = [];
  #standing: Send[] = [];

  /** What comes on one connection, in the order it comes; `refuse`: whether it is turned away. */
  arrive(send: Send, refuse: "timer" | "session" | undefined): SendOutcome {
    const { body, localSeq } = send;
    const earlier = this.#standing.some((s) => s.body[0] === body[0] && s.localSeq < localSeq);
    if (earlier || refuse !== undefined) {
      this.#standing.push(send);
      return { kind: "later", retry: earlier ? "turn" : (refuse ?? "timer") };
    }
    this.#standing = this.#standing.filter((s) => s.localSeq !== localSeq);
    // A replay is answered with its first verdict.
    if (!this.accepted.includes(localSeq)) this.accepted.push(localSeq);
    return SETTLED;
  }

  reconnected(): void {
    this.#standing = [];
  }
}

test("[CL-Q9] [CL-X3] whatever outages and refusals come, each lane is accepted in order, once each", async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("x", "y") },
    { weight: 4, arbitrary: fc.constant("answer") },
    { weight: 2, arbitrary: fc.constantFrom("timer", "session") },
    { weight: 1, arbitrary: fc.constantFrom("retry", "lose", "cut", "time") },
  );
  const reached = { refused: 0, outOfTurn: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const { clock, outbox, sends, add } = setup({ burst: 4, ratePerSecond: 20 });
      const server = new ModelServer();
      const answered = new Set<Send>();
      const open = (): Send | undefined => sends.find((send) => !answered.has(send));
      let count = 0;
      outbox.online();
      const finish = async (kind: string): Promise<void> => {
        const send = open();
        if (send === undefined) return;
        answered.add(send);
        const refuse = kind === "timer" || kind === "session" ? kind : undefined;
        const outcome = server.arrive(send, refuse);
        if (outcome.kind === "later")
          reached[outcome.retry === "turn" ? "outOfTurn" : "refused"] += 1;
        await send.answer(kind === "lose" ? { kind: "ambiguous" } : outcome);
      };
      /** A beginning of what was under way arrives, as a connection delivers in order; its answers are lost. */
      const cut = (): void => {
        outbox.offline();
        let arrived = true;
        for (const send of sends) {
          if (answered.has(send)) continue;
          arrived &&= send.localSeq % 3 !== 0;
          if (arrived) server.arrive(send, send.localSeq % 5 === 0 ? "timer" : undefined);
          answered.add(send);
        }
        server.reconnected();
        outbox.online();
      };
      for (const kind of steps) {
        if (kind === "x" || kind === "y") add(`${kind}${(count += 1)}`);
        else if (kind === "time") await clock.advance(200);
        else if (kind === "retry") outbox.retry();
        else if (kind === "cut") cut();
        else await finish(kind);
      }
      for (let n = 0; n < 500 && outbox.size > 0; n += 1) {
        if (open() === undefined) {
          outbox.retry();
          await clock.advance(4000);
        } else await finish("answer");
      }
      const { accepted } = server;
      expect(outbox.size).toBe(0);
      expect(new Set(accepted).size).toBe(accepted.length);
      expect(accepted).toHaveLength(count);
      const lane = (n: number): string => sends.find((send) => send.localSeq === n)?.body[0] ?? "";
      for (const name of ["x", "y"]) {
        const order = accepted.filter((n) => lane(n) === name);
        expect(order).toEqual([...order].sort((a, b) => a - b));
      }
    }),
    { numRuns: Number(process.env["FUZZ_RUNS"] ?? 100) },
  );
  expect(Math.min(reached.refused, reached.outOfTurn)).toBeGreaterThan(0);
});
