import type { EffectErrorKind } from "@tidemark/executor";
import { GATE_NAMES } from "@tidemark/protocol";
import { z } from "zod";
import { TRICKS } from "../intruder/tricks.js";
import { DISK_FAILURES, DISK_PLACES } from "../world/disks.js";
import { parseAddress, parsePieceAddress } from "./address.js";

const json = z.json();
const name = z.string().min(1);
const client = name;
const event = z.string().regex(/^\$.+/u, "an event is named with a leading $");
const address = z.string().refine((text) => parseAddress(text) !== undefined, {
  message: "an address is SPACE/PIECE/NODE, with @user or @user/session for a scoped instance",
});
const piece = z.string().refine((text) => parsePieceAddress(text) !== undefined, {
  message: "a piece is named SPACE/PIECE",
});
const path = z.array(z.union([z.string(), z.number().int()]));
const seqOrName = z.union([z.number().int(), event]);
const level = z.record(name, z.enum(["READ", "WRITE", "OWNER"]));
const outcomes = z.array(z.enum(["ok", "fail", "refuse"]));

const gate = z.enum(GATE_NAMES);

/** Classes of error that a failing gate or load can show. */
export const FAILURE_CLASSES = [
  "io",
  "conflict",
  "timeout",
  "connection",
  "session-revoked",
  "authorization",
  "protocol",
  "row-label",
  "preparation",
] as const;

const failure = z.enum(FAILURE_CLASSES);

/** Kinds with which a request of an effect can fail. */
export const EFFECT_FAILURES = [
  "network",
  "refused",
  "timeout",
  "too-large",
  "invalid",
  "provider",
  "limit",
] as const satisfies readonly EffectErrorKind[];

/** A client as the file describes it. */
export const ClientSchema = z.strictObject({
  user: name,
  session: name,
  watch: z.array(address).optional(),
});

const operation = z.strictObject({
  op: z.enum(["replace", "add", "remove", "append", "addUnique", "increment", "splice"]),
  path,
  value: json.optional(),
  index: z.number().int().optional(),
  remove: z.number().int().optional(),
  insert: json.optional(),
  ifAbsent: json.optional(),
});

const rawCommit = z.strictObject({
  reads: z.array(z.tuple([address, path, seqOrName, z.enum(["value", "shape"])])).optional(),
  ops: z.array(
    z.strictObject({
      op: z.enum(["set", "delete", "patch"]),
      id: address,
      value: json.optional(),
    }),
  ),
  localSeq: z.number().int().optional(),
});

const pieceBody = z.strictObject({
  pattern: name,
  argument: z.record(z.string(), json).optional(),
});

const comparator = z.partialRecord(z.enum([">=", ">", "<=", "<", "!="]), z.number());
const count = z.union([z.number(), comparator]);
const counts = z.record(z.string(), count);
const partial = z.record(z.string(), json);

/** A step's own value, and the keys that may stand beside its verb. */
interface StepShape<Value extends z.ZodType, Key extends string> {
  readonly value: Value;
  readonly beside: readonly Key[];
}

function shape<Value extends z.ZodType, Key extends string = never>(
  value: Value,
  ...beside: readonly Key[]
): StepShape<Value, Key> {
  return { value, beside };
}

/** What may stand beside a verb. */
export const BesideSchema = z.strictObject({
  as: name.optional(),
  space: name.optional(),
  times: z.number().int().positive().optional(),
  within: z.number().nonnegative().optional(),
  with: failure.optional(),
  event: event.optional(),
  proven: z.boolean().optional(),
  ms: z.number().nonnegative().optional(),
  fails: z.boolean().optional(),
  refused: z.union([z.literal(true), z.string(), z.strictObject({ "~": z.string() })]).optional(),
});

const stored = z.record(address, json);

/** Every step of the format. A verb that is not here makes the file bad. */
export const STEP_SHAPES = {
  fire: shape(
    z.union([z.tuple([client, address]), z.tuple([client, address, json])]),
    "as",
    "refused",
  ),
  refire: shape(z.tuple([client, event]), "refused"),
  append: shape(z.tuple([client, address, z.record(z.string(), json)]), "as", "refused"),
  commit: shape(z.tuple([client, name, rawCommit]), "as", "refused"),
  write: shape(
    z.union([z.tuple([client, address, json]), z.tuple([client, address, json, path])]),
    "refused",
  ),
  patch: shape(z.tuple([client, address, z.array(operation)]), "refused"),
  create: shape(z.tuple([client, name, name, pieceBody]), "refused"),
  swap: shape(z.tuple([client, piece, name]), "refused"),
  settle: shape(z.union([name, z.array(name)]), "within"),
  idle: shape(z.literal(true)),
  advance: shape(z.number().nonnegative()),
  offline: shape(client),
  online: shape(client),
  reload: shape(client),
  close: shape(client),
  connect: shape(z.record(client, ClientSchema)),
  crash: shape(name),
  stop: shape(name),
  start: shape(name),
  suspend: shape(name, "ms"),
  freeze: shape(name),
  thaw: shape(name),
  answer: shape(address, "fails"),
  intrude: shape(z.tuple([name, z.enum(TRICKS), z.number().int()])),
  disk: shape(
    z.union([
      z.tuple([name, z.literal("sound")]),
      z.tuple([name, z.literal("slow"), z.number().positive()]),
      z.tuple([name, z.enum(DISK_FAILURES), z.enum(DISK_PLACES)]),
    ]),
    "times",
  ),
  steal: shape(z.tuple([name, z.number().nonnegative()])),
  clock: shape(z.tuple([name, z.number()])),
  hold: shape(gate, "space", "times"),
  reached: shape(gate, "space", "within"),
  release: shape(gate, "space"),
  fail: shape(gate, "space", "with", "times", "event", "proven"),
  crashAt: shape(gate, "space"),
  let: shape(name),
  loads: shape(z.tuple([address, z.union([failure, z.literal("heal")])]), "proven"),
  respond: shape(
    z.union([
      z.tuple([address, z.strictObject({ status: z.number().int(), body: json.optional() })]),
      z.tuple([address, z.strictObject({ fails: z.enum(EFFECT_FAILURES) })]),
    ]),
  ),
  retry: shape(z.tuple([client, event]), "as", "refused"),
  dismiss: shape(z.tuple([client, event]), "as", "refused"),
  enact: shape(client, "fails"),
  acl: shape(z.tuple([client, name, level]), "refused"),
  compact: shape(name),
  drain: shape(name),
  sweep: shape(z.literal(true)),
  kick: shape(name),
  executor: shape(z.tuple([name, name, outcomes])),
  intents: shape(z.tuple([name, outcomes])),
  mark: shape(name),
  expect: shape(stored),
  see: shape(z.record(client, stored)),
  overlay: shape(z.record(client, count)),
  queue: shape(z.record(client, count)),
  outcome: shape(
    z.record(
      event,
      z.enum([
        "pending",
        "consequenced",
        "errored",
        "refused",
        "dropped",
        "needs-attention",
        "append-refused",
      ]),
    ),
  ),
  entry: shape(z.record(event, z.union([z.null(), partial]))),
  runs: shape(z.record(event, count)),
  commits: shape(z.record(name, counts)),
  watermark: shape(
    z.record(name, z.union([z.strictObject({ covers: event }), z.strictObject({ lag: count })])),
  ),
  stats: shape(z.record(name, counts)),
  frames: shape(
    z.record(client, z.strictObject({ holds: z.array(address), never: z.boolean().optional() })),
  ),
  attention: shape(z.record(client, z.array(partial))),
  active: shape(z.record(name, z.boolean())),
  lease: shape(z.record(name, z.union([z.string(), z.null()]))),
  outstanding: shape(z.record(address, count)),
  deliveries: shape(z.record(name, z.record(name, counts))),
  outbox: shape(z.record(name, z.array(partial))),
  intentLog: shape(z.record(name, z.array(partial))),
  leak: shape(z.record(name, z.strictObject({ max: z.number() }))),
  channel: shape(z.record(client, z.array(partial))),
  navigated: shape(z.record(client, z.array(piece))),
  rows: shape(z.record(name, counts)),
} as const;

/** A step's verb. */
export type Verb = keyof typeof STEP_SHAPES;

/** What may stand beside a verb. */
export type Beside = z.infer<typeof BesideSchema>;

/** One step: its verb, the verb's own value, what stands beside it, and its place in the file. */
export type Step = {
  readonly [V in Verb]: {
    readonly verb: V;
    readonly value: z.infer<(typeof STEP_SHAPES)[V]["value"]>;
    readonly beside: Beside;
    /** Counted from 1, as a reader counts. */
    readonly number: number;
  };
}[Verb];

/** The step of one verb. */
export type StepOf<V extends Verb> = Extract<Step, { verb: V }>;
