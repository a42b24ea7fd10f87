/** An expectation that does not hold, or a step that went otherwise than the file says. */
export class StepFailure extends Error {
  constructor(
    readonly what: string,
    readonly expected?: unknown,
    readonly actual?: unknown,
  ) {
    super(
      expected === undefined && actual === undefined
        ? what
        : `${what}: expected ${show(expected)}, there was ${show(actual)}`,
    );
    this.name = "StepFailure";
  }
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
