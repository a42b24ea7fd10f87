/** What an operator set, as text; `undefined`: nothing. */
export interface EgressEnvironment {
  readonly SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS?: string | undefined;
  readonly SERVER_EXECUTION_EGRESS_RATE_PER_S?: string | undefined;
}

/** The two knobs of a space's budget, by their names in the policy. */
export interface EgressSettings {
  readonly maxOutstandingEffects: number;
  readonly egressRatePerSecond: number;
}

/** Calls of one space that may be under way at once (seed 001 §5). */
export const DEFAULT_MAX_OUTSTANDING_EFFECTS = 16;

/** What an egress rate that cannot be read falls back to: slow, so that a typo is never no bound. */
export const GUARDED_EGRESS_RATE = 1;

const COUNT = /^(?:0|[1-9]\d{0,8})$/u;
const RATE = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/u;

/**
 * Reads the budget of a deployment from its environment, failing closed (seed 001 §5): the literal `0`
 * alone takes a bound away, and what cannot be read leaves one standing and is told to `warn`.
 */
export function readEgressSettings(
  env: EgressEnvironment,
  warn: (message: string) => void,
): EgressSettings {
  return {
    maxOutstandingEffects: read({
      name: "SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS",
      text: env.SERVER_EXECUTION_MAX_OUTSTANDING_EFFECTS,
      form: COUNT,
      what: "a whole number of at least 0",
      unset: DEFAULT_MAX_OUTSTANDING_EFFECTS,
      unreadable: DEFAULT_MAX_OUTSTANDING_EFFECTS,
      warn,
    }),
    egressRatePerSecond: read({
      name: "SERVER_EXECUTION_EGRESS_RATE_PER_S",
      text: env.SERVER_EXECUTION_EGRESS_RATE_PER_S,
      form: RATE,
      what: "a number of at least 0",
      unset: 0,
      unreadable: GUARDED_EGRESS_RATE,
      warn,
    }),
  };
}

interface Setting {
  readonly name: string;
  readonly text: string | undefined;
  readonly form: RegExp;
  readonly what: string;
  readonly unset: number;
  readonly unreadable: number;
  readonly warn: (message: string) => void;
}

function read({ name, text, form, what, unset, unreadable, warn }: Setting): number {
  if (text === undefined || text === "") return unset;
  const value = form.test(text) ? Number(text) : Number.NaN;
  // "0.0" is no literal 0: whoever means no bound says so.
  if (Number.isFinite(value) && (value > 0 || text === "0")) return value;
  warn(`${name} is ${JSON.stringify(text.slice(0, 64))}, not ${what}: ${unreadable} is used`);
  return unreadable;
}
