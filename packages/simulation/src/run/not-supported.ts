/** A scenario asks for something that no part serves yet. It fails, loudly, and is never skipped. */
export class NotSupportedYetError extends Error {
  readonly code = "not-supported-yet";

  constructor(readonly what: string) {
    super(`not supported yet: ${what}`);
    this.name = "NotSupportedYetError";
  }
}
