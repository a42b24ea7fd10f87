/** A scenario file that does not follow the format. The message names the file, the place in it and the key. */
export class BadFileError extends Error {
  readonly code = "bad-scenario-file";

  constructor(
    readonly file: string,
    readonly where: string,
    reason: string,
  ) {
    super(`${file}: ${where}: ${reason}`);
    this.name = "BadFileError";
  }
}
