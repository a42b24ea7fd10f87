const MAX_LENGTH = 80;

/** An option that may be added, or why it may not. */
export type NewOption =
  | { readonly ok: true; readonly option: string }
  | { readonly ok: false; readonly problem: string };

/** Reads what was typed as a new option. */
export function newOption(typed: string, taken: readonly string[]): NewOption {
  const option = typed.trim().replaceAll(/\s+/gu, " ");
  if (option === "") return { ok: false, problem: "What would you like?" };
  if ([...option].length > MAX_LENGTH) {
    return { ok: false, problem: `That is too long: ${MAX_LENGTH} characters at most.` };
  }
  const same = taken.find((other) => other.toLowerCase() === option.toLowerCase());
  return same === undefined
    ? { ok: true, option }
    : { ok: false, problem: `${same} is on the list.` };
}
