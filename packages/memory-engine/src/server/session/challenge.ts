/** A challenge that was issued to one connection and has not been answered. */
export interface Challenge {
  readonly text: string;
  /** On the monotonic clock: a wall clock that jumps neither shortens nor lengthens it. */
  readonly deadline: number;
}

/** Why a challenge does not stand for this answer; `undefined` when it does. */
export function challengeFault(
  issued: Challenge | undefined,
  answered: string,
  now: number,
): string | undefined {
  if (issued === undefined) return "no challenge is outstanding on this connection";
  if (issued.text !== answered) return "the challenge was not issued to this connection";
  if (now >= issued.deadline) return "the challenge has expired";
  return undefined;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** 256 bits of chance as hex. */
export function challengeText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => HEX[byte]).join("");
}
