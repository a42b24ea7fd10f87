import { setOwn, validateJson, type JsonValue, type MutableJsonObject } from "@tidemark/protocol";
import type { RunOutcome } from "@tidemark/scheduler";
import {
  runDerivation,
  sameValue,
  type DerivationSpec,
  type OutputFate,
} from "../computed/derivation.js";
import { outsideFrame } from "../frame/frame.js";
import type { EffectNode } from "../pattern/build-scope.js";
import type { RunEnvironment } from "../piece/environment.js";
import type { Transaction } from "../transaction/transaction.js";
import type { EffectRun, ReadState } from "../types.js";
import { memoKey } from "./memo.js";
import { parseRequest } from "./requests.js";
import { failedValue, pendingValue, storedMemo } from "./value.js";

type Held = Extract<ReadState, { state: "held" }>;
type Place = Pick<DerivationSpec, "action" | "label" | "output">;

interface Resolution {
  /** What the result document is to say. */
  readonly value: JsonValue;
  /** What the request came to; absent where it never was one. */
  readonly run?: EffectRun;
}

/**
 * Runs an effectful node: resolves its request, and looks its key up in its own result document (seed
 * 001 §4). A hit leaves the document alone; a miss writes the marker that selects the request, and
 * hands the request over with the run. Nothing here waits for an answer: one that comes is an
 * outsider's write to the document, and this runs again.
 */
export function runEffect(env: RunEnvironment, node: EffectNode, place: Place): RunOutcome {
  let run: EffectRun | undefined;
  let own: Held | undefined;
  const compute = (tx: Transaction): JsonValue | undefined => {
    const given = node.request();
    return outsideFrame(() => {
      own = ownDocument(env, place, tx);
      if (given === undefined) return undefined;
      const resolution = resolve(env, node, place, given, own.value);
      run = resolution.run;
      return resolution.value;
    });
  };
  const fate = (value: JsonValue | undefined) => outputFate(env, own, value);
  return runDerivation(env, { ...place, compute, fate }, () => ({
    changes: [],
    accepted: () => undefined,
    ...(run === undefined ? {} : { effect: run }),
  }));
}

/**
 * The own document is an input of a served run: whatever an outsider makes of it, an answer above all,
 * the request is looked up again. An echo looks at it and rests on the request alone: what frames
 * bring of an answer is no reason to derive. It looks under the layers of echoes, its own marker among
 * them: the stored answer is what the store has, whatever this client made of it meanwhile.
 */
function ownDocument(env: RunEnvironment, { output }: Place, tx: Transaction): Held {
  const shown = env.host.view.read(output);
  const state = shown.state === "held" ? (shown.confirmed ?? shown) : shown;
  if (state.state === "failed") throw state.error;
  if (state.state === "pending") return tx.awaits(output);
  if (env.host.posture === "serving") tx.logKey(output, [], state.seq);
  return state;
}

/**
 * An echo leaves what is confirmed alone, so that an answer shows when it comes, and takes no marker of
 * its own along. Any other output it must lay again, since the run before takes its layer along.
 */
function outputFate(
  env: RunEnvironment,
  own: Held | undefined,
  value: JsonValue | undefined,
): OutputFate | undefined {
  if (env.host.posture === "serving") return undefined;
  return sameValue(own?.value, value) ? "leave" : "write";
}

function resolve(
  env: RunEnvironment,
  node: EffectNode,
  { output }: Place,
  given: unknown,
  stored: JsonValue | undefined,
): Resolution {
  const { builtIn } = node;
  const { space, posture } = env.host;
  const asked = checkedJson(withSchema(compact(given), node.answerSchema));
  const parsed = parseRequest(builtIn, asked);
  const request = parsed.ok ? checkedJson(parsed.request) : asked;
  const key = memoKey({ builtIn, request, target: output, space });
  const memo = storedMemo(stored);
  const held = memo?.key === key && memo.settled ? stored : undefined;
  // A client makes no request and says nothing of one: what it knows is whether the answer is here.
  if (posture === "speculating") return { value: held ?? pendingValue(key) };
  if (held !== undefined) return { value: held, run: { memo: "hit" } };
  if (!parsed.ok) return { value: failedValue(key, { kind: "invalid", message: parsed.message }) };
  return {
    value: pendingValue(key),
    run: { memo: "miss", request: { builtIn, key, target: output, request } },
  };
}

function withSchema(given: unknown, schema: JsonValue | undefined): unknown {
  if (schema === undefined || typeof given !== "object" || given === null) return given;
  return { schema, ...given };
}

/** Fields that are `undefined` are not there: what a pattern leaves open it often spells like that. */
function compact(value: unknown, within: readonly unknown[] = []): unknown {
  // A circle and what is no plain data are left for the check of what is JSON.
  if (typeof value !== "object" || value === null || within.includes(value)) return value;
  const inside = [...within, value];
  if (Array.isArray(value)) return value.map((item) => compact(item, inside));
  if (!isPlain(value)) return value;
  const copy: MutableJsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    if (child !== undefined) setOwn(copy, key, compact(child, inside) as JsonValue);
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** @throws ValueError with the path of what is not JSON in it. */
function checkedJson(value: unknown): JsonValue {
  const json = validateJson(value);
  if (!json.ok) throw json.error;
  return json.value;
}
