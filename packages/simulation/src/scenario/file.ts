import { z } from "zod";
import { BadFileError } from "./bad-file.js";
import { checkExpression, checkOperation, type Expression, type Operation } from "./expression.js";
import { parsePieceAddress } from "./address.js";
import { BesideSchema, ClientSchema, STEP_SHAPES, type Step, type Verb } from "./steps.js";

const json = z.json();
const name = z.string().min(1);
const scope = z.enum(["space", "user", "session"]);
const expression = z.custom<Expression>((value) => value !== undefined);
const operations = z.array(z.custom<Operation>((value) => Array.isArray(value)));

const PatternSchema = z.strictObject({
  cells: z
    .record(name, z.strictObject({ default: json.optional(), scope: scope.optional() }))
    .optional(),
  computed: z.record(name, expression).optional(),
  maps: z.record(name, z.strictObject({ over: name, key: name, expr: expression })).optional(),
  effects: z
    .record(name, z.strictObject({ fetch: z.strictObject({ url: expression }) }))
    .optional(),
  handlers: z.record(name, operations).optional(),
  labels: z.record(name, z.array(z.string())).optional(),
  ceilings: z.record(name, z.array(z.string())).optional(),
  consumers: z.record(name, z.strictObject({ on: name, do: operations })).optional(),
  sends: z
    .record(name, z.strictObject({ when: expression, to: name, payload: expression }))
    .optional(),
});

const PolicySchema = z.strictObject({
  flushDeadlineMs: z.number().optional(),
  idleParkMs: z.number().optional(),
  leaseTtlMs: z.number().optional(),
  leaseRenewMs: z.number().optional(),
  activationBackoffMs: z.number().optional(),
  activationBackoffCapMs: z.number().optional(),
  yieldSliceMs: z.number().optional(),
  deferralThreshold: z.number().optional(),
  deferralBackstopMs: z.number().optional(),
  deliveryFailureBudgetMs: z.number().optional(),
  maxOutstandingEffects: z.number().optional(),
  egressRatePerSecond: z.number().optional(),
  parkedRuntimeRetentionMs: z.number().optional(),
  maxParkedRuntimes: z.number().optional(),
  waveMaxBytes: z.number().optional(),
  appendPacing: z.strictObject({ burst: z.number(), ratePerSecond: z.number() }).optional(),
  storeReadThrough: z.boolean().optional(),
  passBudget: z.number().optional(),
  compactAfterEntries: z.number().optional(),
  compactAfterMs: z.number().optional(),
  compactMaxEntries: z.number().optional(),
  sweepMs: z.number().optional(),
});

const FileSchema = z.strictObject({
  id: name,
  title: z.string(),
  seed: z.number().int().optional(),
  patterns: z.record(name, PatternSchema),
  spaces: z.record(
    name,
    z.strictObject({
      pieces: z.record(
        name,
        z.strictObject({ pattern: name, argument: z.record(z.string(), json).optional() }),
      ),
      acl: z.record(name, z.enum(["READ", "WRITE", "OWNER"])).optional(),
    }),
  ),
  clients: z.record(name, ClientSchema),
  policy: PolicySchema.optional(),
  autostart: z.boolean().optional(),
  steps: z.array(z.record(z.string(), z.unknown())),
  rule: z.string().optional(),
  catches: z.string().optional(),
  note: z.string().optional(),
});

export type PatternFile = z.infer<typeof PatternSchema>;
export type ClientFile = z.infer<typeof ClientSchema>;
export type PolicyFile = z.infer<typeof PolicySchema>;
export type SpaceFile = z.infer<typeof FileSchema>["spaces"][string];

/** A scenario whose form has been checked whole. */
export interface Scenario extends Omit<z.infer<typeof FileSchema>, "steps"> {
  readonly steps: readonly Step[];
}

/**
 * Checks a scenario file against the format.
 *
 * @throws BadFileError naming the file, the step or key, and what is wrong with it
 */
export function parseScenario(file: string, content: unknown): Scenario {
  const parsed = FileSchema.safeParse(content);
  if (!parsed.success) throw badFile(file, "", parsed.error);
  const { steps: rawSteps, ...rest } = parsed.data;
  for (const [patternName, pattern] of Object.entries(rest.patterns)) {
    const wrong = checkPattern(pattern, `patterns.${patternName}`);
    if (wrong) throw new BadFileError(file, `patterns.${patternName}`, wrong);
  }
  const steps = rawSteps.map((raw, index) => parseStep(file, raw, index + 1));
  checkReferences(file, rest);
  return { ...rest, steps };
}

/**
 * Checks one step against the format.
 *
 * @throws BadFileError naming the file, the step or key, and what is wrong with it
 */
export function parseStep(file: string, raw: Record<string, unknown>, number: number): Step {
  const where = `step ${number}`;
  const verbs = Object.keys(raw).filter((key) => Object.hasOwn(STEP_SHAPES, key));
  const [verb, another] = verbs as Verb[];
  if (!verb) {
    throw new BadFileError(file, where, `unknown step ${Object.keys(raw).join(", ") || "{}"}`);
  }
  if (another) throw new BadFileError(file, where, `both "${verb}" and "${another}" in one step`);
  const form = STEP_SHAPES[verb];
  const { [verb]: value, ...others } = raw;
  const allowed = new Set<string>(form.beside);
  const stray = Object.keys(others).find((key) => !allowed.has(key));
  if (stray) throw new BadFileError(file, where, `"${stray}" means nothing beside "${verb}"`);
  const parsedValue = form.value.safeParse(value);
  if (!parsedValue.success) throw badFile(file, `${where} "${verb}"`, parsedValue.error);
  const beside = BesideSchema.safeParse(others);
  if (!beside.success) throw badFile(file, where, beside.error);
  // The table maps each verb to its own value's type; the pair is built here once and nowhere else.
  return { verb, value: parsedValue.data, beside: beside.data, number } as Step;
}

function checkPattern(pattern: PatternFile, where: string): string | undefined {
  const expressions: [string, unknown][] = [
    ...Object.entries(pattern.computed ?? {}),
    ...Object.entries(pattern.maps ?? {}).map(([key, map]) => [key, map.expr] as [string, unknown]),
    ...Object.entries(pattern.effects ?? {}).map(
      ([key, effect]) => [key, effect.fetch.url] as [string, unknown],
    ),
    ...Object.values(pattern.sends ?? {}).flatMap((send): [string, unknown][] => [
      [send.to, send.when],
      [send.to, send.payload],
    ]),
  ];
  for (const [key, value] of expressions) {
    const wrong = checkExpression(value, `${where}.${key}`);
    if (wrong) return wrong;
  }
  const lists: [string, readonly unknown[]][] = [
    ...Object.entries(pattern.handlers ?? {}),
    ...Object.entries(pattern.consumers ?? {}).map(
      ([key, consumer]) => [key, consumer.do] as [string, readonly unknown[]],
    ),
  ];
  for (const [key, list] of lists) {
    for (const [index, operation] of list.entries()) {
      const wrong = checkOperation(operation, `${where}.${key}[${index}]`);
      if (wrong) return wrong;
    }
  }
  return undefined;
}

function checkReferences(file: string, scenario: Omit<Scenario, "steps">): void {
  for (const [space, { pieces }] of Object.entries(scenario.spaces)) {
    for (const [pieceName, piece] of Object.entries(pieces)) {
      if (!parsePieceAddress(`${space}/${pieceName}`)) {
        throw new BadFileError(file, `spaces.${space}.pieces`, `"${pieceName}" is no name`);
      }
      if (!Object.hasOwn(scenario.patterns, piece.pattern)) {
        throw new BadFileError(
          file,
          `spaces.${space}.pieces.${pieceName}`,
          `no pattern "${piece.pattern}"`,
        );
      }
    }
  }
}

function badFile(file: string, where: string, error: z.ZodError): BadFileError {
  const [issue] = error.issues;
  const path = issue?.path.map(String).join(".") ?? "";
  const place = [where, path].filter((part) => part !== "").join(" ") || "the file";
  return new BadFileError(file, place, issue?.message ?? "is not a scenario");
}
