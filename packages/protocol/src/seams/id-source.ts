import { encodeTime, incrementBase32 } from "ulid";
import type { Clock } from "./system-clock.js";
import type { Random } from "./random.js";

/** Where fresh ids come from. */
export interface IdSource {
  /** A ULID (26 characters, Crockford base32), greater than every one this source gave before. */
  ulid(): string;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;
const LAST_RANDOM = "Z".repeat(RANDOM_LENGTH);

function randomPart(random: Random): string {
  let out = "";
  for (const byte of random.bytes(RANDOM_LENGTH)) out += ALPHABET.charAt(byte & 31);
  return out;
}

/**
 * Monotonic ULIDs over injected time and chance. `ulid`'s own factory throws when the random part of
 * one millisecond is used up and asks its generator sixteen times; this one borrows the next
 * millisecond and asks once. A clock that goes back does not take the ids back.
 */
export function createIdSource(clock: Pick<Clock, "now">, random: Random): IdSource {
  let lastTime = -1;
  let lastRandom = "";
  const advance = (): void => {
    const now = Math.max(0, Math.trunc(clock.now()));
    if (now > lastTime) {
      [lastTime, lastRandom] = [now, randomPart(random)];
    } else if (lastRandom === LAST_RANDOM) {
      [lastTime, lastRandom] = [lastTime + 1, randomPart(random)];
    } else {
      lastRandom = incrementBase32(lastRandom);
    }
  };
  return {
    ulid() {
      advance();
      return encodeTime(lastTime, TIME_LENGTH) + lastRandom;
    },
  };
}
